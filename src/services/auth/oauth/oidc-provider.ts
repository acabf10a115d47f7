import { timingSafeEqual } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { Context } from '../../../http/context.ts';
import type { Clock } from '../../../db/clock.ts';
import { tellOfLogouts } from './backchannel-logout.ts';
import type { Deps } from './access/deps.ts';
import { showInput } from './device-pages.ts';
import { proofWindowSeconds } from './access/dpop.ts';
import { endHostedSession } from '../sessions/hosted-sessions.ts';
import type { OAuthClient } from '../apps/oauth-clients.ts';
import { oidcConfiguration } from './oidc-configuration.ts';
import { byClock, errors, Provider } from './oidc-library.ts';
import { isFormAnswer, showFormAnswer } from './oidc-pages.ts';
import { askLibrary, OidcIncoming, type OidcAnswer, type OidcRequest } from './oidc-requests.ts';
import type { KeySet } from './keys/signing-keys.ts';
import { sha256 } from '../directory/tokens.ts';

/** The OAuth library, configured for the current keys. */
export interface OidcProvider {
  ask(request: OidcRequest, from: From): Promise<OidcAnswer>;
  /** Uses the library outside of a request. */
  use<T>(work: (library: Provider) => Promise<T>): Promise<T>;
}

type From = Pick<Context, 'ip' | 'userAgent' | 'cookie' | 'authorization'>;

/** A new instance takes over when the keys change; requests that the old one has started are finished by it. */
export function createOidcProvider(deps: Deps): OidcProvider {
  const issuer = new URL(deps.issuer);
  const { clock } = deps.changes;
  let running: { keys: KeySet; provider: Provider; handle: ReturnType<Provider['callback']> } | undefined;

  async function latest() {
    const keys = await deps.signingKeys.current();
    if (running?.keys.version === keys.version) return running;
    const provider = setUp(deps, keys);
    return (running = { keys, provider, handle: provider.callback() });
  }

  return {
    async ask(request, from) {
      const { handle } = await latest();
      return byClock(clock, () => askLibrary(handle, issuer, request, from));
    },
    async use(work) {
      const { provider } = await latest();
      return byClock(clock, () => work(provider));
    },
  };
}

function setUp(deps: Deps, keys: KeySet): Provider {
  const provider = libraryFor(deps, keys);
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
    return client !== undefined && isSecretOf(client, actual, deps.changes.clock);
  };
  refuseByName(provider);
  // One statement decides for all processes. The time of a proof may lie ahead by its window, so the proof is valid that much longer.
  provider.ReplayDetection.unique = (maker, id, until) =>
    deps.usedOnce(
      'client',
      `${maker} ${id}`,
      until - Math.floor(deps.changes.clock.now() / 1_000) + proofWindowSeconds,
    );
  tellOfLogouts(deps, provider);
  const session = provider.Session.prototype;
  const destroy = Reflect.get(session, 'destroy');
  session.destroy = async function () {
    await endHostedSession(deps, this.uid);
    await destroy.call(this);
  };
  return provider;
}

/** Creates the library with our own page for form responses: its constructor registers the response modes. */
function libraryFor(deps: Deps, keys: KeySet): Provider {
  class Library extends Provider {
    override registerResponseMode(...[name, handler]: Parameters<Provider['registerResponseMode']>): void {
      const own: typeof handler = (ctx, to, answer) => showFormAnswer(deps, ctx, to, answer);
      super.registerResponseMode(name, name === 'form_post' ? own : handler);
    }
  }
  return new Library(deps.issuer, oidcConfiguration(deps, keys));
}

/** A grant or response type that the client was not registered for gets the error code of RFC 6749; the library says `invalid_request`. */
function refuseByName(provider: Provider): void {
  const client = provider.Client.prototype;
  const grantTypeAllowed = Reflect.get(client, 'grantTypeAllowed');
  const responseTypeAllowed = Reflect.get(client, 'responseTypeAllowed');
  client.grantTypeAllowed = function (type) {
    const allowed = grantTypeAllowed.call(this, type);
    const { route, params } = Provider.ctx?.oidc ?? {};
    if (!allowed && route === 'token' && params?.['grant_type'] === type)
      throw new errors.UnauthorizedClient('grant_type: not one of the client');
    return allowed;
  };
  client.responseTypeAllowed = function (type) {
    if (!responseTypeAllowed.call(this, type))
      throw new errors.UnauthorizedClient('response_type: the client has no grant for it');
    return true;
  };
}

/** Whether the text is the client's secret, or the previous one in its grace period. */
export function isSecretOf(
  { secrets }: Pick<OAuthClient, 'secrets'>,
  presented: string,
  clock: Clock,
): boolean {
  const hash = sha256(presented);
  const now = clock.now();
  return secrets.some(
    ({ hash: known, until }) => (until === null || now < until) && timingSafeEqual(known, hash),
  );
}

/** Redirects the browser directly where the library would use a script. */
const withoutScript =
  (deps: Deps): Middleware =>
  async (ctx, next) => {
    await next();
    const { oidc } = ctx as typeof ctx & Partial<NonNullable<typeof Provider.ctx>>;
    if (oidc === undefined || ctx.status !== 200 || isFormAnswer(ctx)) return;
    if (oidc.route === 'code_verification' && ctx.method === 'GET')
      return showInput(deps, ctx as NonNullable<typeof Provider.ctx>);
    const to =
      oidc.route === 'resume' || isOthersDevice(oidc)
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

/** Whether the library is about to end another user's session and then return to the device; otherwise it has shown a page. */
function isOthersDevice(oidc: Oidc): boolean {
  const { postLogoutRedirectUri } = (oidc.session?.state ?? {}) as {
    readonly postLogoutRedirectUri?: string;
  };
  const uid = oidc.entities.Interaction?.uid;
  return oidc.route === 'device_resume' && postLogoutRedirectUri === oidc.urlFor(oidc.route, { uid });
}

/** Another user signed in to the browser meanwhile: their session ends, and the authorization continues. */
async function signedInElsewhere(deps: Deps, oidc: Oidc): Promise<string> {
  await endHostedSession(deps, oidc.session!.uid);
  return oidc.urlFor(oidc.route, { uid: oidc.entities.Interaction!.uid });
}

/** A user who is not signed in is not asked whether to sign out. */
function signedOutBefore(oidc: Oidc): string | undefined {
  if (oidc.session?.accountId !== undefined) return undefined;
  const { post_logout_redirect_uri: target, state } = oidc.params ?? {};
  const to = new URL(typeof target === 'string' ? target : oidc.urlFor('end_session_success'));
  if (typeof target === 'string' && typeof state === 'string') to.searchParams.set('state', state);
  return to.href;
}
