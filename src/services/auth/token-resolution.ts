import type { Tokens } from '../../../generated/auth/server.ts';
import type { ActivePrincipal, Change, Principal } from '../../../generated/auth/types.ts';
import type { Changes, LoggedChange } from '../../db/changes.ts';
import { changesSince } from '../../http/change-stream.ts';
import type { Context } from '../../http/context.ts';
import type { AccessPrincipal, AccessTokens } from './access-tokens.ts';
import type { Principals } from './principals.ts';
import type { SessionPrincipal } from './session-principal.ts';

export interface ResolutionDeps {
  readonly changes: Changes;
  readonly principals: Principals;
  readonly accessTokens: Pick<AccessTokens, 'resolve'>;
}

/** Milliseconds that a service which holds the stream of changes may keep a principal. */
const mostKeptMs = 5_000;

/** Tokens: whom a credential stands for, and when that changes. */
export const tokens = ({ changes, principals, accessTokens }: ResolutionDeps) =>
  ({
    async resolve({ body: { token } }, { reply }): Promise<Principal> {
      reply.header('Cache-Control', 'no-store');
      const session = await principals.ofSession(token);
      const access = session ? undefined : await accessTokens.resolve(token);
      const found = session ? sessionPrincipal(session) : access && accessPrincipal(access);
      if (!found) return { active: false };
      const left = Date.parse(found.expires_at) - Date.now();
      return { ...found, cache_ms: Math.max(0, Math.min(mostKeptMs, left)) };
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
  ...rest,
});

/** The words are those of `createWriter`: nobody else writes changes. Other services fetch the key set when they meet a new key. */
const toChange = ({ seq, kind, id, effect, before }: LoggedChange) =>
  kind === 'signing_key' ? undefined : ({ seq, kind, id, effect, before } as Change);
