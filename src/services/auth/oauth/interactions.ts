import type { IncomingMessage } from 'node:http';
import { Gone } from '../../../lib/errors.ts';
import type { InteractionResults } from 'oidc-provider';
import { acrOf } from './acr.ts';
import type { Deps } from './access/deps.ts';
import { consentStore } from './consents.store.ts';
import type { KnownApp } from '../directory/directory.ts';
import { scopesForUser, scopesIn } from '../roles/granted-scopes.ts';
import { endHostedSession } from '../sessions/hosted-sessions.ts';
import type { OAuthClient } from '../apps/oauth-clients.ts';
import { errors, type Provider } from './oidc-library.ts';
import type { OidcProvider } from './oidc-provider.ts';
import { OidcIncoming, OidcOutgoing } from './oidc-requests.ts';
import { oidcStore } from '../directory/oidc.store.ts';
import { scopeStore } from '../directory/scopes.store.ts';
import { sha256 } from '../directory/tokens.ts';
import type { GoesOn } from '../views/page-answer.ts';

/** An authorization that waits for the user. */
export interface Interaction {
  readonly uid: string;
  readonly prompt: 'login' | 'select_account' | 'consent';
  readonly client: OAuthClient;
  readonly app: KnownApp;
  readonly tenant: string;
  /** The user who is signed in to the browser; null before sign-in. */
  readonly userId: string | null;
  /** The scopes that the client requests now. */
  readonly scopes: readonly string[];
  /** Null for a device, because the browser is not redirected to one. */
  readonly redirectUri: string | null;
  readonly loginHint: string | null;
  /** The organization whose branding the pages use. */
  readonly orgId: string | null;
}

/** The provider's side of the hosted pages. Deciding methods throw `Gone` if the interaction has ended meanwhile. */
export interface Interactions {
  /**
   * Returns undefined if the interaction does not exist, is over, or was started by another browser. `cookie` is the request's
   * header.
   */
  find(uid: string, cookie: string | undefined): Promise<Interaction | undefined>;
  /** Whether an authorization still waits for the user. Its own page checks whether it belongs to the browser. */
  waits(uid: string): Promise<boolean>;
  /** `methods` are the authentication methods (RFC 8176), such as `pwd`, `otp`, `sms`. */
  signedIn(interaction: Interaction, userId: string, methods: readonly string[]): Promise<GoesOn>;
  /** Continues as the signed-in account. */
  selected(interaction: Interaction): Promise<GoesOn>;
  consented(interaction: Interaction): Promise<GoesOn>;
  /** The client gets the error `access_denied`. */
  aborted(interaction: Interaction): Promise<GoesOn>;
}

/** The authorization was finished elsewhere, or took too long. */
const Over = () => Gone('the authorization has ended: start again at the client');

type Pending = InstanceType<Provider['Interaction']>;

export function createInteractions(deps: Deps, oidc: OidcProvider): Interactions {
  const issuer = new URL(deps.issuer);

  /** The interaction whose cookie the browser sends. */
  async function ofBrowser(uid: string, cookie: string | undefined): Promise<Pending | undefined> {
    const from = { ip: '', userAgent: null, cookie };
    const request = new OidcIncoming(issuer, { method: 'GET', path: `/oauth2/interactions/${uid}` }, from);
    const incoming = request as unknown as IncomingMessage;
    try {
      const pending = await oidc.use((library) =>
        library.interactionDetails(incoming, new OidcOutgoing(incoming)),
      );
      return pending.uid === uid ? pending : undefined;
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    }
  }

  /** Stores the user's decision; the provider reads it when the browser comes back. */
  async function goOn(
    uid: string,
    decide: (pending: Pending) => InteractionResults,
    asOther: (pending: Pending) => boolean = () => false,
  ): Promise<GoesOn> {
    const pending = await oidc.use(({ Interaction }) => Interaction.find(uid));
    if (!pending) throw Over();
    if (!(await oidcStore(deps.db.sql).decide(sha256(uid), decide(pending), asOther(pending)))) throw Over();
    return { location: pending.returnTo, cookies: [] };
  }

  return {
    async find(uid, cookie) {
      const pending = await ofBrowser(uid, cookie);
      return pending && described(deps, pending);
    },

    async waits(uid) {
      const pending = await oidc.use(({ Interaction }) => Interaction.find(uid));
      return pending !== undefined && pending.result === undefined;
    },

    async signedIn({ uid }, userId, methods) {
      const pending = await oidc.use(({ Interaction }) => Interaction.find(uid));
      const before = pending?.session;
      if (before !== undefined && before.accountId !== userId) await endHostedSession(deps, before.uid);
      return goOn(
        uid,
        () => ({
          login: {
            accountId: userId,
            amr: [...methods],
            acr: acrOf(methods),
            ts: Math.floor(deps.changes.clock.now() / 1000),
          },
          // A user who signs in has chosen the account.
          select_account: {},
        }),
        ({ session }) => session?.accountId !== userId,
      );
    },

    selected: ({ uid }) => goOn(uid, ({ lastSubmission }) => ({ ...lastSubmission, select_account: {} })),

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
  const held = user ? await scopeStore(db.sql).ofUser(tenant, user.id) : [];
  const allowed = user ? scopesForUser(client.scopes, held) : client.scopes;
  return {
    uid: pending.uid,
    prompt: promptOf(pending),
    client,
    app,
    tenant,
    userId: user && !user.banned ? user.id : null,
    scopes: scopesIn(params['scope']).filter((scope) => allowed.includes(scope)),
    redirectUri:
      params['redirect_uri'] ?? (pending.deviceCode === undefined ? client.redirect_uris[0]! : null),
    loginHint: params['login_hint'] ?? null,
    orgId: null,
  };
}

const promptOf = ({ prompt: { name } }: Pending): Interaction['prompt'] =>
  name === 'consent' || name === 'select_account' ? name : 'login';
