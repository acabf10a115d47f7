import type { TokenSet } from '../../../generated/auth/types.ts';
import { parseDuration } from '../../lib/durations.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from './directory.ts';
import { InvalidCredentials, RefreshReused } from './errors.ts';
import { impersonationTokenMs } from './impersonation.ts';
import { refreshStore, type Refreshable, type Spent } from './refresh.store.ts';
import { openPair, sealPair } from './retry-box.ts';
import { endSessions } from './revocations.ts';
import { longestSessionMs } from './session-start.ts';
import { issueToken, readToken, type PresentedToken } from './tokens.ts';

/** Two that present the same token within this time raced; later it is in two hands. */
const raceSeconds = 10;

/**
 * Replaces both tokens of a session. A request that is repeated with its key gets the same pair for a minute, so that a lost
 * answer signs nobody out.
 * @throws Unauthenticated
 */
export async function refreshSession(deps: Deps, token: string, retryKey: string | null): Promise<TokenSet> {
  const { db, directory } = deps;
  const presented = readToken('prt', token);
  const tenant = presented && (await directory.tenantOf(presented.tag));
  if (!presented || tenant === undefined) throw InvalidCredentials();
  const session = await refreshStore(db.sql).current(tenant, presented.hash);
  const app = session && (await directory.app(session.app_id));
  if (session && app) {
    const rotated = await rotate(deps, app, session, token, presented, retryKey);
    if (rotated) return rotated;
  }
  const spent = await refreshStore(db.sql).spent(tenant, presented.hash);
  if (!spent || spent.ended) throw InvalidCredentials();
  const kept = repeated(spent, token, retryKey);
  if (kept) return kept;
  if (spent.age > raceSeconds) await endReused(deps, tenant, spent);
  throw RefreshReused();
}

/** Undefined where somebody else was faster. */
async function rotate(
  { write }: Deps,
  app: KnownApp,
  { id, user_id, kind }: Refreshable,
  token: string,
  { tag, hash }: PresentedToken,
  retryKey: string | null,
): Promise<TokenSet | undefined> {
  const { session_ttl, refresh_ttl } = app.settings;
  const [next, nextRefresh] = [issueToken('pst', tag), issueToken('prt', tag)];
  const pair = { session_token: next.token, refresh_token: nextRefresh.token };
  const impersonating = kind === 'impersonation';
  return write({ tenant: app.tenant, app: app.id, actor: user_id }, async ({ sql, changed }) => {
    const rotated = await refreshStore(sql).rotate(app.tenant, {
      id,
      oldHash: hash,
      tokenHash: next.hash,
      refreshHash: nextRefresh.hash,
      expiresIn: impersonating ? impersonationTokenMs : parseDuration(session_ttl),
      refreshExpiresIn: impersonating ? null : parseDuration(refresh_ttl),
      longest: longestSessionMs,
      retryKey,
      retryBox: retryKey === null ? null : sealPair(token, id, pair),
    });
    if (!rotated) return undefined;
    // The old session token is good no more, whoever has it in memory.
    changed('session', id);
    return { ...pair, expires_at: rotated.expires_at };
  });
}

/** What the same request was answered. */
function repeated(
  { session_id, retry_key, retry_box, expires_at }: Spent,
  token: string,
  retryKey: string | null,
): TokenSet | undefined {
  if (retryKey === null || retry_key !== retryKey || retry_box === null) return undefined;
  const pair = openPair(token, session_id, retry_box);
  return pair && { ...pair, expires_at };
}

/** Somebody has a copy of the token: nobody goes on with the session. */
const endReused = ({ write }: Deps, tenant: string, { app_id, user_id, session_id }: Spent) =>
  write({ tenant, app: app_id, actor: 'anonymous' }, async (reuseWrite) => {
    const ended = await endSessions(reuseWrite, [session_id], 'refresh_reused');
    if (ended > 0) reuseWrite.emit('auth.refresh_reused', user_id, { user_id, session_id });
  });
