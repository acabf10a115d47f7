import type { Tokens } from '../../../../../generated/auth/server.ts';
import type { ActivePrincipal, Change, Principal } from '../../../../../generated/auth/types.ts';
import type { Changes, LoggedChange } from '../../../../db/changes.ts';
import { changesSince } from '../../../../http/change-stream.ts';
import type { Context } from '../../../../http/context.ts';
import type { AccessPrincipal, AccessTokens } from './access-tokens.ts';
import type { Principals } from '../../sessions/principals.ts';
import type { SessionPrincipal } from '../../sessions/session-principal.ts';

export interface ResolutionDeps {
  readonly changes: Changes;
  readonly principals: Principals;
  readonly accessTokens: Pick<AccessTokens, 'resolve'>;
}

/** How many milliseconds a service that follows the change stream may cache a principal. */
const mostKeptMs = 5_000;

/** Tokens: the principal of a credential, and when that changes. */
export const tokens = ({ changes, principals, accessTokens }: ResolutionDeps) =>
  ({
    async resolve({ body: { token, dpop } }, { reply }): Promise<Principal> {
      reply.header('Cache-Control', 'no-store');
      // Only access tokens are bound to keys.
      const session = dpop === undefined ? await principals.ofSession(token) : undefined;
      const access = session ? undefined : await accessTokens.resolve(token, dpop);
      const found = session ? sessionPrincipal(session) : access && accessPrincipal(access);
      if (!found) return { active: false };
      const latest = changes.clock.now() + changes.clock.uncertainty();
      const left = Date.parse(found.expires_at) - latest;
      return { ...found, cache_ms: Math.floor(Math.max(0, Math.min(mostKeptMs, left))) };
    },

    changes: ({ 'Last-Event-ID': last }) => changesSince(changes, last, toChange),
  }) satisfies Tokens<Context>;

const sessionPrincipal = (session: SessionPrincipal): Omit<ActivePrincipal, 'cache_ms'> => ({
  active: true,
  kind: 'session',
  tenant_id: session.tenant,
  app_id: session.app,
  user_id: session.user_id,
  client_id: null,
  session_id: session.id,
  org_id: session.org_id,
  scopes: [...session.scopes],
  org_scopes: [...session.org_scopes],
  impersonated_by: session.impersonated_by,
  expires_at: session.expires_at,
});

const accessPrincipal = ({
  id: _,
  tenant,
  app,
  scopes,
  ...rest
}: AccessPrincipal): Omit<ActivePrincipal, 'cache_ms'> => ({
  active: true,
  kind: 'access_token',
  tenant_id: tenant,
  app_id: app,
  scopes: [...scopes],
  org_scopes: [],
  ...rest,
});

/** The values are those of `createWriter`, the only writer of changes. Other services fetch the key set when they meet a new key. */
const toChange = ({ seq, kind, id, effect, before }: LoggedChange) =>
  kind === 'signing_key' ? undefined : ({ seq, kind, id, effect, before } as Change);
