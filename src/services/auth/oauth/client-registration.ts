import type { ClientRegistration } from '../../../../generated/auth/server.ts';
import type { ClientRegistrationRequest, ClientUpdate } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { Conflict, Forbidden, Invalid, Unauthenticated } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appInContext, appOfCaller } from '../directory/app-context.ts';
import { checkLogoutUri } from '../apps/logout-uri.ts';
import { informationOf, profileOf } from '../apps/client-metadata.ts';
import { mostRegistered, registrationStore } from './client-registration.store.ts';
import { changeClient, deleteClient } from '../apps/clients.ts';
import { clientStore } from '../apps/clients.store.ts';
import type { Deps } from './access/deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { MissingScope } from '../errors.ts';
import { cleanLabel } from '../text/labels.ts';
import { isSecretOf } from './oidc-provider.ts';
import { issueToken, readToken } from '../directory/tokens.ts';
import type { Author } from '../directory/writes.ts';

/** The scope that an initial access token needs. */
const neededScope = 'auth:write';

/** ClientRegistration: clients that register themselves. */
export const clientRegistration = (deps: Deps) => {
  const { db, directory, write, outbound, limits, issuer, oauthClients, settings } = deps;

  /** The app that a client may register with. @throws Forbidden, Unauthenticated, Invalid, NotFound */
  async function appFor(
    context: Context,
    named: { readonly publishableKey?: string | undefined; readonly app_id?: string | undefined },
  ): Promise<KnownApp> {
    if (settings.clientRegistration === 'off') throw Forbidden('clients cannot register themselves here');
    const { publishableKey, app_id: appId } = named;
    const isAnonymous = context.scopes.length === 0 && context.userId === null;
    if (settings.clientRegistration === 'token') {
      if (isAnonymous) throw Unauthenticated('an initial access token is needed');
      if (!context.holds(neededScope)) throw MissingScope(neededScope);
    }
    if (!isAnonymous) return appOfCaller(directory, context, appId);
    const fallback = publishableKey === undefined ? 'default' : undefined;
    return appInContext(directory, { publishableKey, appId: appId ?? fallback });
  }

  /** Authenticates the caller by the registration access token. @throws Unauthenticated */
  async function enter(
    id: string,
    { authorization, ip }: Context,
  ): Promise<{ token: string; author: Author }> {
    await limits.take('token', ip);
    const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
    const presented = readToken('reg', token);
    const found = presented && (await registrationStore(db.sql).find(id, presented.hash));
    if (!found) throw Unauthenticated('the registration access token belongs to another client');
    return { token, author: { ...found, actor: id } };
  }

  return {
    async register({ body, ...named }, context) {
      await limits.take('register', context.ip);
      const app = await appFor(context, named);
      const profile = cleanProfile(body);
      checkLogoutUri(outbound, profile);
      const tag = await directory.tagOf(app.tenant);
      const [secret, token] = [profile.public ? undefined : issueToken('sec', tag), issueToken('reg', tag)];
      const author = { tenant: app.tenant, app: app.id, actor: context.actor };
      const client = await write(author, async (tx) => {
        const store = registrationStore(tx.sql);
        if (!(await store.reserve(tx.tenant, tx.app)))
          throw Conflict(`limit reached: ${mostRegistered} clients that registered themselves`);
        const id = newId('client');
        const ids = { id, tenant_id: tx.tenant, app_id: tx.app, secret_hash: secret?.hash ?? null };
        const made = await clientStore(tx.sql).insert({ ...profile, ...ids });
        await store.keepToken(tx.tenant, made, token.hash);
        tx.emit('auth.client.created', id, { client_id: id });
        return made;
      });
      context.reply.header('Cache-Control', 'no-store');
      return informationOf(client, { token: token.token, issuer, secret: secret?.token });
    },

    async get({ clientId }, context) {
      const { token, author } = await enter(clientId, context);
      const client = await clientStore(db.sql).get(author.tenant, author.app, clientId);
      context.reply.header('Cache-Control', 'no-store');
      return informationOf(client, { token, issuer });
    },

    async update({ clientId, body }, context) {
      const { token, author } = await enter(clientId, context);
      const { client_id, client_secret } = body;
      if (client_id !== undefined && client_id !== clientId)
        throw Invalid('client_id: belongs to another client');
      const known = await oauthClients.find(clientId);
      if (client_secret !== undefined && !(known && isSecretOf(known, client_secret, deps.changes.clock)))
        throw Invalid('client_secret: does not belong to this client; leave it out to keep the current one');
      const { self_registered: _, ...profile } = cleanProfile(body);
      if (known && profile.public !== known.public)
        throw Invalid('token_endpoint_auth_method: a client cannot begin or cease to have a secret');
      checkLogoutUri(outbound, profile);
      const next: ClientUpdate = profile;
      const client = await write(author, (tx) =>
        changeClient(tx, context, clientId, next, (url) => outbound.judge(url)),
      );
      context.reply.header('Cache-Control', 'no-store');
      return informationOf(client, { token, issuer });
    },

    async delete({ clientId }, context) {
      const { author } = await enter(clientId, context);
      await write(author, (tx) => deleteClient(tx, clientId));
    },
  } satisfies ClientRegistration<Context>;
};

function cleanProfile(metadata: ClientRegistrationRequest) {
  const profile = profileOf(metadata);
  return { ...profile, name: cleanLabel('client_name', profile.name) };
}
