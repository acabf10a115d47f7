import { timingSafeEqual } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { Provider } from 'oidc-provider';
import type { Context } from '../../http/context.ts';
import type { Deps } from './deps.ts';
import { endHostedSession } from './hosted-sessions.ts';
import type { OAuthClient } from './oauth-clients.ts';
import { oidcConfiguration } from './oidc-configuration.ts';
import { askLibrary, OidcIncoming, type OidcAnswer, type OidcRequest } from './oidc-requests.ts';
import type { KeySet } from './signing-keys.ts';
import { sha256 } from './tokens.ts';

/** The OAuth library, set up for the keys that are the current ones. */
export interface OidcProvider {
  ask(request: OidcRequest, from: From): Promise<OidcAnswer>;
  /** For what is not a request: its models. */
  current(): Promise<Provider>;
}

type From = Pick<Context, 'ip' | 'userAgent' | 'cookie' | 'authorization'>;

/** A new one takes over when the keys change; requests that the old one has begun are answered by it. */
export function createOidcProvider(deps: Deps): OidcProvider {
  const issuer = new URL(deps.issuer);
  let running: { keys: KeySet; provider: Provider; handle: ReturnType<Provider['callback']> } | undefined;

  async function latest() {
    const keys = await deps.signingKeys.current();
    if (running?.keys.version === keys.version) return running;
    const provider = setUp(deps, keys);
    return (running = { keys, provider, handle: provider.callback() });
  }

  return {
    ask: async (request, from) => askLibrary((await latest()).handle, issuer, request, from),
    current: async () => (await latest()).provider,
  };
}

function setUp(deps: Deps, keys: KeySet): Provider {
  const provider = new Provider(deps.issuer, oidcConfiguration(deps, keys));
  provider.on('server_error', (ctx, error) => {
    if (ctx.req instanceof OidcIncoming) ctx.req.fault = error;
  });
  const emitter: EventEmitter = provider;
  emitter.on('error', (error: unknown, ctx?: { req: unknown }) => {
    if (ctx?.req instanceof OidcIncoming) ctx.req.fault = error;
  });
  provider.use(withoutScript(deps));
  provider.Client.prototype.compareClientSecret = async function (actual) {
    const client = await deps.oauthClients.find(this.clientId);
    return client !== undefined && isSecretOf(client, actual);
  };
  const session = provider.Session.prototype;
  const destroy = Reflect.get(session, 'destroy');
  session.destroy = async function () {
    await endHostedSession(deps, this.uid);
    await destroy.call(this);
  };
  return provider;
}

/** Whether it is the client's secret, or the one before in its time of grace. */
export function isSecretOf({ secrets }: Pick<OAuthClient, 'secrets'>, presented: string): boolean {
  const hash = sha256(presented);
  const now = Date.now();
  return secrets.some(
    ({ hash: known, until }) => (until === null || now < until) && timingSafeEqual(known, hash),
  );
}

/** Where the library would send a browser on by a script, it goes on without one. */
const withoutScript =
  (deps: Deps): Middleware =>
  async (ctx, next) => {
    await next();
    const { oidc } = ctx as typeof ctx & Partial<NonNullable<typeof Provider.ctx>>;
    if (oidc === undefined || ctx.status !== 200) return;
    const to =
      oidc.route === 'resume'
        ? await signedInElsewhere(deps, oidc)
        : oidc.route === 'end_session'
          ? signedOutBefore(oidc)
          : undefined;
    if (to === undefined) return;
    ctx.status = 303;
    ctx.redirect(to);
  };

type Middleware = Parameters<Provider['use']>[0];
type Oidc = NonNullable<typeof Provider.ctx>['oidc'];

/** Somebody else signed in to the browser meanwhile: that session ends, and the authorization goes on. */
async function signedInElsewhere(deps: Deps, oidc: Oidc): Promise<string> {
  await endHostedSession(deps, oidc.session!.uid);
  return oidc.urlFor('resume', { uid: oidc.entities.Interaction!.uid });
}

/** Nobody is asked whether to sign out who is not signed in. */
function signedOutBefore(oidc: Oidc): string | undefined {
  if (oidc.session?.accountId !== undefined) return undefined;
  const { post_logout_redirect_uri: target, state } = oidc.params ?? {};
  const to = new URL(typeof target === 'string' ? target : oidc.urlFor('end_session_success'));
  if (typeof target === 'string' && typeof state === 'string') to.searchParams.set('state', state);
  return to.href;
}
