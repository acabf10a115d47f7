import type { TokenSet } from '../../../../generated/auth/types.ts';
import { batchedReads } from '../../../db/batched-reads.ts';
import { parseDuration } from '../../../lib/durations.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { InvalidCredentials, RefreshReused } from '../errors.ts';
import { mayGoOn } from './impersonation-endings.ts';
import { impersonationTokenMs } from './impersonation.ts';
import {
  refreshStore,
  type Refreshable,
  type Rotation,
  type Spent,
  type WantedRefresh,
} from './refresh.store.ts';
import { openPair, sealPair, type Pair } from '../directory/retry-box.ts';
import { endSessions } from './revocations.ts';
import { createRotate } from './rotations.ts';
import { issueToken, readToken, type PresentedToken } from '../directory/tokens.ts';

/** Two uses of a token within this time are a race; a later one means that two parties have it. */
const raceSeconds = 10;

/** Exchanges a refresh token. @throws Unauthenticated */
export type Refresh = (token: string, retryKey: string | null) => Promise<TokenSet>;

/**
 * Replaces both tokens of a session. A request that is repeated with its key gets the same pair for a minute, so that a lost
 * response signs nobody out.
 */
export function createRefresh(deps: Deps): Refresh {
  const { db, directory, write } = deps;
  const rotate = createRotate(write);
  const current = batchedReads<WantedRefresh, Refreshable>(
    async (wanted) =>
      new Map((await refreshStore(db.sql).current(wanted)).map((session) => [session.hash, session])),
    ({ hash }) => hash,
    2,
  );

  return async (token, retryKey) => {
    const presented = readToken('prt', token);
    const tenant = presented && (await directory.tenantOf(presented.tag));
    if (!presented || tenant === undefined) throw InvalidCredentials();
    const session = await current({ tenant, hash: presented.hash.toString('hex') });
    const app = session && (await directory.app(session.app_id));
    if (session && app) {
      // An impersonator who lost the right to act as the user gets no new tokens.
      if (session.by_user && !(await mayGoOn(db.sql, { tenant, id: session.id }))) throw InvalidCredentials();
      const { pair, rotation } = nextPair(app, session, token, presented, retryKey);
      const rotated = await rotate(app.id, rotation);
      if (rotated) return { ...pair, expires_at: rotated.expires_at };
    }
    const spent = await refreshStore(db.sql).spent(tenant, presented.hash);
    if (!spent || spent.ended) throw InvalidCredentials();
    const kept = repeated(spent, token, retryKey);
    if (kept) return kept;
    if (spent.age > raceSeconds) await endReused(deps, tenant, spent);
    throw RefreshReused();
  };
}

/** Returns new tokens of the session, and the data to be stored about them. */
function nextPair(
  { tenant, settings: { session_ttl, refresh_ttl } }: KnownApp,
  { id, kind }: Refreshable,
  token: string,
  { tag, hash }: PresentedToken,
  retryKey: string | null,
): { pair: Pair; rotation: Rotation } {
  const [next, nextRefresh] = [issueToken('pst', tag), issueToken('prt', tag)];
  const pair = { session_token: next.token, refresh_token: nextRefresh.token };
  const impersonating = kind === 'impersonation';
  return {
    pair,
    rotation: {
      tenant,
      id,
      oldHash: hash,
      tokenHash: next.hash,
      refreshHash: nextRefresh.hash,
      expiresIn: impersonating ? impersonationTokenMs : parseDuration(session_ttl),
      refreshExpiresIn: impersonating ? null : parseDuration(refresh_ttl),
      retryKey,
      retryBox: retryKey === null ? null : sealPair(token, id, pair),
    },
  };
}

/** Returns the response to the same request. */
function repeated(
  { session_id, retry_key, retry_box, expires_at }: Spent,
  token: string,
  retryKey: string | null,
): TokenSet | undefined {
  if (retryKey === null || retry_key !== retryKey || retry_box === null) return undefined;
  const pair = openPair(token, session_id, retry_box);
  return pair && { ...pair, expires_at };
}

/** Somebody has a copy of the token, so the session ends for everybody. */
const endReused = ({ write }: Deps, tenant: string, { app_id, user_id, session_id }: Spent) =>
  write({ tenant, app: app_id, actor: 'anonymous' }, async (reuseWrite) => {
    const ended = await endSessions(reuseWrite, [session_id], 'refresh_reused');
    if (ended > 0) reuseWrite.emit('auth.refresh_reused', user_id, { user_id, session_id });
  });
