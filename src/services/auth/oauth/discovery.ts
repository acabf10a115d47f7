import type { Discovery } from '../../../../generated/auth/server.ts';
import type { ProviderMetadata } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { jwks } from './jwks.ts';
import type { OAuthDeps } from './oauth.ts';

/** Discovery: what clients and resource servers need to know about the provider. */
export const discovery = (deps: OAuthDeps) => {
  /** The library's metadata, and the userinfo endpoint, which is the service's own. */
  async function metadata(_request: unknown, context: Context): Promise<ProviderMetadata> {
    const answer = await deps.oidc.ask(
      { method: 'GET', path: '/.well-known/openid-configuration' },
      // The metadata is the same for everybody.
      { ip: context.ip, userAgent: null },
    );
    const said = JSON.parse(answer.body) as ProviderMetadata;
    return {
      ...said,
      ...(deps.settings.clientRegistration !== 'off' && {
        registration_endpoint: `${deps.issuer}/oauth2/register`,
      }),
      userinfo_endpoint: `${deps.issuer}/oauth2/userinfo`,
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    };
  }
  return { jwks: jwks(deps), openid: metadata, authorizationServer: metadata } satisfies Discovery<Context>;
};
