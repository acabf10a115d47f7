import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { ActivePrincipal, Principal } from '../../../../../generated/auth/types.ts';
import type { Change } from '../../../../db/changes.ts';
import { createFreshCache } from '../../../../db/fresh-cache.ts';
import type { Operator } from '../../../../http/access.ts';
import { accessToken, type PresentedProof, type TokenVerdict } from '../../../../http/access-token.ts';
import { asOperator } from '../../../../http/asker.ts';
import { sessionToken, type SessionVerdict } from '../../../../http/credentials.ts';
import { newRequestId } from '../../../../http/exchange.ts';
import { remotePort, type Remote } from '../../../../http/remote-port.ts';
import type { RemoteCredentials } from '../../../../http/service.ts';
import { DomainError, Internal, Unavailable } from '../../../../lib/errors.ts';
import { subjectsOf } from '../../sessions/session-principal.ts';
import { readClaims, subjectsOfClaims } from './access-claims.ts';
import { anyScopeOf, followChanges } from './remote-changes.ts';

interface Wanted {
  readonly token: string;
  /** The cache keeps the hash, not the token. */
  readonly hash: string;
}

interface Cached<Verdict> {
  readonly verdict: Verdict;
  readonly subjects: readonly Change[];
  /** Milliseconds to keep the verdict, as `auth` computed by its database's clock. */
  readonly keptMs: number;
}

type Later<Value> = Value | undefined | Promise<Value | undefined>;

const size = 50_000;

/**
 * Resolves session and access tokens through another server, and caches the results while that server streams its changes. Without
 * an answer it throws `Unavailable` and never guesses a caller.
 */
export function remotePrincipals(remote: Remote, operator: Operator): RemoteCredentials {
  const { tokens } = remotePort('auth', remote, operator);
  const changes = followChanges(remote);

  async function ask(text: string, dpop?: PresentedProof): Promise<Principal> {
    try {
      const body = { token: text, ...(dpop && { dpop }) };
      return await tokens.resolve({ body }, asOperator({ requestId: newRequestId() }));
    } catch (error) {
      if (error instanceof DomainError && ['internal', 'forbidden'].includes(error.kind))
        throw Internal(error);
      throw Unavailable('auth unavailable', { cause: error });
    }
  }

  /** Caches the verdict that `read` derives from a credential, until something on which it depends changes. */
  function remembered<Verdict>(
    read: (principal: ActivePrincipal, text: string) => Judged<Verdict> | undefined,
  ) {
    const cache = createFreshCache<Wanted, Cached<Verdict>>({
      size,
      changes,
      async read(wanted) {
        const found = await Promise.all(
          wanted.map(async ({ hash, token }) => [hash, await resolve(token)] as const),
        );
        return new Map(found.flatMap(([hash, kept]) => (kept === undefined ? [] : [[hash, kept]])));
      },
      width: Infinity,
      keyOf: ({ hash }) => hash,
      subjectsOf: ({ subjects }) => subjects,
      lifetimeOf: ({ keptMs }) => keptMs,
    });
    async function resolve(text: string): Promise<Cached<Verdict> | undefined> {
      const found = await ask(text);
      const judged = found.active ? read(found, text) : undefined;
      if (!found.active || !judged) return undefined;
      return { ...judged, keptMs: found.cache_ms };
    }
    return (text: string): Later<Verdict> => {
      const hash = createHash('sha256').update(text).digest('hex');
      const kept = cache.get(hash);
      if (kept) return kept.verdict;
      return cache.load({ token: text, hash }).then((found) => found?.verdict);
    };
  }

  const resolveToken = remembered(judgedToken);

  /** A proof is valid only once, so its result is not cached. */
  async function resolveProven(text: string, proof: PresentedProof): Promise<TokenVerdict | undefined> {
    const found = await ask(text, proof);
    return found.active ? judgedToken(found, text)?.verdict : undefined;
  }

  const credentials = [
    sessionToken(remembered(judgedSession)),
    accessToken((text, proof) => (proof === undefined ? resolveToken(text) : resolveProven(text, proof))),
  ];
  return { credentials, start: () => changes.start(), stop: () => changes.stop() };
}

type Judged<Verdict> = Pick<Cached<Verdict>, 'verdict' | 'subjects'>;

function judgedSession(found: ActivePrincipal): Judged<SessionVerdict> | undefined {
  if (found.kind !== 'session' || found.user_id === null || found.session_id === null) return undefined;
  const verdict = {
    id: found.session_id,
    tenant: found.tenant_id,
    app: found.app_id,
    user_id: found.user_id,
    org_id: found.org_id,
    impersonated_by: found.impersonated_by,
    // Only the `auth` service reads this time. Asked by this process, it takes the user for one who has to sign in again.
    authenticated_at: new Date(0).toISOString(),
    scopes: found.scopes,
    org_scopes: found.org_scopes,
  };
  if (found.impersonated_by === null) return { verdict, subjects: subjectsOf(verdict) };
  // An impersonation ends when the impersonator loses the permission for it, so any change of the app's scopes counts.
  const { app_id: app, impersonated_by: by } = found;
  return { verdict, subjects: [...subjectsOf(verdict), { kind: 'user', id: by }, anyScopeOf(app)] };
}

/** The claims, verified by `auth`, name what can end the token. A wider scope that the user loses may have covered one of its scopes. */
function judgedToken(found: ActivePrincipal, text: string): Judged<TokenVerdict> | undefined {
  const claims = found.kind === 'access_token' ? readClaims(decodeJwt(text)) : undefined;
  if (!claims || found.client_id === null) return undefined;
  const verdict = {
    id: claims.id,
    tenant: found.tenant_id,
    app: found.app_id,
    user_id: found.user_id,
    client_id: found.client_id,
    scopes: found.scopes,
  };
  return { verdict, subjects: [...subjectsOfClaims(claims), anyScopeOf(found.app_id)] };
}
