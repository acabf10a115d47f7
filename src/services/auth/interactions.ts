import type { IncomingMessage } from 'node:http';
import { errors, type InteractionResults, type Provider } from 'oidc-provider';
import { Gone } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { consentStore } from './consents.store.ts';
import type { KnownApp } from './directory.ts';
import { scopesForUser, scopesIn } from './granted-scopes.ts';
import { endHostedSession } from './hosted-sessions.ts';
import type { OAuthClient } from './oauth-clients.ts';
import type { OidcProvider } from './oidc-provider.ts';
import { OidcIncoming, OidcOutgoing } from './oidc-requests.ts';
import { oidcStore } from './oidc.store.ts';
import { scopeStore } from './scopes.store.ts';
import { sha256 } from './tokens.ts';

/** An authorization that waits for a person. */
export interface Interaction {
  readonly uid: string;
  readonly prompt: 'login' | 'consent';
  readonly client: OAuthClient;
  readonly app: KnownApp;
  readonly tenant: string;
  /** Who is signed in to the browser; null before. */
  readonly userId: string | null;
  /** What the client asks for now. */
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly loginHint: string | null;
  /** Of the organization whose branding the pages take. */
  readonly orgId: string | null;
}

/** Where the browser goes next, with the cookies that the provider wants it to have. */
export interface GoesOn {
  readonly location: string;
  readonly cookies: readonly string[];
}

/** The provider's side of the hosted pages. What decides is `Gone` where the interaction has ended meanwhile. */
export interface Interactions {
  /**
   * Undefined where there is no such interaction, it is over, or the browser that asks is not the one that began it.
   * `cookie` is the request's header.
   */
  find(uid: string, cookie: string | undefined): Promise<Interaction | undefined>;
  /** `methods` are the ways that proved it (RFC 8176), such as `pwd`, `otp`, `sms`. */
  signedIn(interaction: Interaction, userId: string, methods: readonly string[]): Promise<GoesOn>;
  consented(interaction: Interaction): Promise<GoesOn>;
  /** The client is told `access_denied`. */
  aborted(interaction: Interaction): Promise<GoesOn>;
}

/** It was finished elsewhere, or took too long. */
const Over = () => Gone('the authorization is over: begin again at the client');

type Pending = InstanceType<Provider['Interaction']>;

export function createInteractions(deps: Deps, oidc: OidcProvider): Interactions {
  const issuer = new URL(deps.issuer);

  /** The interaction whose cookie the browser sends. */
  async function ofBrowser(uid: string, cookie: string | undefined): Promise<Pending | undefined> {
    const from = { ip: '', userAgent: null, cookie };
    const request = new OidcIncoming(issuer, { method: 'GET', path: `/oauth2/interactions/${uid}` }, from);
    const incoming = request as unknown as IncomingMessage;
    try {
      const pending = await (await oidc.current()).interactionDetails(incoming, new OidcOutgoing(incoming));
      return pending.uid === uid ? pending : undefined;
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    }
  }

  /** Keeps what the person decided; the provider reads it when the browser comes back. */
  async function goOn(
    uid: string,
    decide: (pending: Pending) => InteractionResults,
    asOther: (pending: Pending) => boolean = () => false,
  ): Promise<GoesOn> {
    const pending = await (await oidc.current()).Interaction.find(uid);
    if (!pending) throw Over();
    if (!(await oidcStore(deps.db.sql).decide(sha256(uid), decide(pending), asOther(pending)))) throw Over();
    return { location: pending.returnTo, cookies: [] };
  }

  return {
    async find(uid, cookie) {
      const pending = await ofBrowser(uid, cookie);
      return pending && described(deps, pending);
    },

    async signedIn({ uid }, userId, methods) {
      const pending = await (await oidc.current()).Interaction.find(uid);
      const before = pending?.session;
      if (before !== undefined && before.accountId !== userId) await endHostedSession(deps, before.uid);
      return goOn(
        uid,
        () => ({ login: { accountId: userId, amr: [...methods], ts: Math.floor(Date.now() / 1000) } }),
        ({ session }) => session?.accountId !== userId,
      );
    },

    async consented({ uid, client, tenant, userId, scopes, app }) {
      if (userId === null) throw Over();
      await deps.write({ tenant, app: app.id, actor: userId }, async (tx) => {
        await consentStore(tx.sql).add({ tenant, userId, clientId: client.id }, scopes);
        tx.emit('auth.consent.granted', client.id, { user_id: userId, client_id: client.id, scopes });
      });
      return goOn(uid, ({ lastSubmission }) => ({ ...lastSubmission, consent: {} }));
    },

    aborted: ({ uid }) =>
      goOn(uid, () => ({ error: 'access_denied', error_description: 'the user did not go on' })),
  };
}

async function described(deps: Deps, pending: Pending): Promise<Interaction | undefined> {
  const { db, oauthClients, directory, knownUsers } = deps;
  const params = pending.params as Readonly<Record<string, string | undefined>>;
  const client = await oauthClients.find(params['client_id'] ?? '');
  const app = client && (await directory.app(client.app));
  if (!client || !app) return undefined;
  const { tenant } = client;
  const signedIn = pending.session?.accountId;
  const user = signedIn === undefined ? undefined : await knownUsers({ tenant, app: app.id, id: signedIn });
  const held = user ? await scopeStore(db.sql).ofUser(tenant, user.id, null) : [];
  const allowed = user ? scopesForUser(client.scopes, held) : client.scopes;
  return {
    uid: pending.uid,
    prompt: pending.prompt.name === 'consent' ? 'consent' : 'login',
    client,
    app,
    tenant,
    userId: user && !user.banned ? user.id : null,
    scopes: scopesIn(params['scope']).filter((scope) => allowed.includes(scope)),
    redirectUri: params['redirect_uri'] ?? client.redirect_uris[0]!,
    loginHint: params['login_hint'] ?? null,
    orgId: null,
  };
}
