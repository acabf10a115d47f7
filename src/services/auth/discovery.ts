import type { Discovery } from '../../../generated/auth/server.ts';
import type { ProviderMetadata } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { jwks } from './jwks.ts';
import type { OAuthDeps } from './oauth.ts';

/** Discovery: what clients and resource servers need to know of the provider. */
export const discovery = (deps: OAuthDeps) => {
  /** What the library says of itself, and where claims are answered, which is not its own. */
  async function metadata(_request: unknown, context: Context): Promise<ProviderMetadata> {
    const answer = await deps.oidc.ask(
      { method: 'GET', path: '/.well-known/openid-configuration' },
      // It is the same for everybody.
      { ip: context.ip, userAgent: null },
    );
    const said = JSON.parse(answer.body) as ProviderMetadata;
    return {
      ...said,
      userinfo_endpoint: `${deps.issuer}/oauth2/userinfo`,
      // There is no parameter to ask for another one.
      response_modes_supported: ['query'],
    };
  }
  return { jwks: jwks(deps), openid: metadata, authorizationServer: metadata } satisfies Discovery<Context>;
};
