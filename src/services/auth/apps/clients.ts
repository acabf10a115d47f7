import { isDeepStrictEqual } from 'node:util';
import type { Clients } from '../../../../generated/auth/server.ts';
import type { Client, ClientUpdate } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { parseDuration } from '../../../lib/durations.ts';
import { Conflict, Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appOfCaller, authorOf } from '../directory/app-context.ts';
import { checkLogoutUri } from './logout-uri.ts';
import { checkAuthentication } from './client-keys.ts';
import { checkSelfRegistered } from './client-metadata.ts';
import { checkClient, hasSecret } from './client-rules.ts';
import { clientStore } from './clients.store.ts';
import type { Deps } from './deps.ts';
import { checkFixed } from '../text/fixed.ts';
import { checkMayChange, checkMayGive } from '../directory/guarded-scopes.ts';
import { cleanLabel } from '../text/labels.ts';
import { cleanUrl } from '../text/url-rules.ts';
import { issueToken } from '../directory/tokens.ts';
import type { Write } from '../directory/writes.ts';

/** The longest time that a replaced secret continues to work. */
const longestGraceMs = 720 * 3_600_000;

/** Clients: programs that sign users in, or act for themselves, by OAuth. */
export const clients = ({ db, directory, write, outbound, production }: Deps) => {
  const judge: Judge = (url) => outbound.judge(url);
  return {
    async create({ body: { app_id, ...body } }, context) {
      const app = await appOfCaller(directory, context, app_id);
      const method = body.token_endpoint_auth_method ?? (body.public ? 'none' : 'client_secret_basic');
      checkClient(body);
      checkAuthentication({ ...body, token_endpoint_auth_method: method }, judge);
      checkLogoutUri(outbound, body);
      checkMayGive(context, body.scopes);
      const secret = hasSecret({ token_endpoint_auth_method: method })
        ? issueToken('sec', await directory.tagOf(app.tenant))
        : null;
      const client = {
        ...body,
        name: cleanLabel('name', body.name),
        logo_url: cleanLogo(body.logo_url, production),
        scopes: [...new Set(body.scopes)],
        require_pkce: body.require_pkce ?? body.public,
        token_endpoint_auth_method: method,
        self_registered: false,
        secret_hash: secret?.hash ?? null,
      };
      const created = await write(authorOf(context, app), async (tx) => {
        const id = newId('client');
        tx.emit('auth.client.created', id, { client_id: id });
        return clientStore(tx.sql).insert({ ...client, id, tenant_id: tx.tenant, app_id: tx.app });
      });
      context.reply.header('Cache-Control', 'no-store');
      return { ...created, client_secret: secret?.token ?? null };
    },

    async list({ app_id, ...request }, context) {
      const app = await appOfCaller(directory, context, app_id);
      const window = windowOf(request);
      const found = await clientStore(db.sql).list(app.tenant, app.id, window);
      return { clients: answerPage(context.reply, window, found) };
    },

    async get({ clientId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return clientStore(db.sql).get(app.tenant, app.id, clientId);
    },

    async update({ clientId, body: given }, context) {
      const { logo_url } = given;
      const body = logo_url === undefined ? given : { ...given, logo_url: cleanLogo(logo_url, production) };
      checkLogoutUri(outbound, body);
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), (tx) => changeClient(tx, context, clientId, body, judge));
    },

    async delete({ clientId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const { scopes } = await clientStore(tx.sql).lock(tx.tenant, tx.app, clientId);
        checkMayChange(context, 'client', scopes);
        await deleteClient(tx, clientId);
        return { status: 'deleted' as const };
      });
    },

    async rotateSecret({ clientId, body }, context) {
      const graceMs = parseDuration(body?.grace_period ?? '24h', 'grace_period');
      if (graceMs > longestGraceMs) throw Invalid('grace_period: at most 720h');
      const app = await appOfCaller(directory, context, undefined);
      const secret = issueToken('sec', await directory.tagOf(app.tenant));
      const client = await write(authorOf(context, app), async (tx) => {
        const store = clientStore(tx.sql);
        const known = await store.lock(tx.tenant, tx.app, clientId);
        if (known.public) throw Conflict('a public client has no secret');
        if (!hasSecret(known)) throw Conflict('a client with keys of its own has no secret');
        // The holder of the secret can do whatever the client may do.
        checkMayGive(context, known.scopes);
        tx.changed('client', clientId, 'forget');
        tx.emit('auth.client.updated', clientId, { client_id: clientId, fields: ['client_secret'] });
        return store.replaceSecret(tx.tenant, known, secret.hash, graceMs);
      });
      context.reply.header('Cache-Control', 'no-store');
      return { ...client, client_secret: secret.token };
    },
  } satisfies Clients<Context>;
};

/** Deletes a client with all its grants and tokens. @throws NotFound */
export async function deleteClient({ sql, tenant, app, changed, emit }: Write, id: string): Promise<void> {
  const store = clientStore(sql);
  await store.lock(tenant, app, id);
  await store.delete(tenant, app, id);
  changed('client', id);
  emit('auth.client.deleted', id, { client_id: id });
}

/** Changes a client on behalf of a caller who may do so. @throws NotFound, Invalid, Forbidden */
export async function changeClient(
  tx: Write,
  context: Context,
  id: string,
  { app_id, public: isPublic, ...body }: ClientUpdate,
  judge: Judge,
): Promise<Client> {
  const store = clientStore(tx.sql);
  const client = await store.lock(tx.tenant, tx.app, id);
  checkFixed('app_id', app_id, client.app_id);
  if (isPublic !== undefined && isPublic !== client.public) throw Invalid('public: cannot be changed');
  const next: Client = {
    ...client,
    ...body,
    ...(body.name === undefined ? {} : { name: cleanLabel('name', body.name) }),
    ...(body.scopes === undefined ? {} : { scopes: [...new Set(body.scopes)] }),
  };
  checkClient(next);
  checkAuthentication(next, judge);
  checkSelfRegistered(next);
  const fields = changeable.filter((name) => !isDeepStrictEqual(next[name], client[name]));
  if (fields.length === 0) return client;
  // Another redirect URI or grant gives the scopes to another party, so a caller who changes it must hold them, too.
  if (fields.some((name) => !shownToUsers.has(name))) {
    checkMayGive(context, next.scopes);
    checkMayChange(context, 'client', client.scopes);
  }
  const movesAway = client.self_registered && hasNew(client.redirect_uris, next.redirect_uris);
  // Nobody vouches for such a client: users consented because of the address that they were shown, so a new address needs new consent.
  if (movesAway) await store.endGrants(id);
  tx.changed('client', id, movesAway ? 'refuse' : mayLess(client, next) ? 'reload' : 'forget');
  tx.emit('auth.client.updated', id, { client_id: id, fields });
  if (!hasSecret(next)) await store.forgetSecrets(tx.tenant, id);
  return store.update(tx.tenant, withoutTimes(next));
}

const cleanLogo = (url: string | null, production: boolean) =>
  url === null ? null : cleanUrl('logo_url', url, production);

/** Members that only change what users are shown. */
const shownToUsers: ReadonlySet<string> = new Set(['name', 'logo_url']);

/** Returns the problem with an address, or undefined when there is none. */
type Judge = (url: string) => string | undefined;

const changeable = [
  'name',
  'logo_url',
  'redirect_uris',
  'post_logout_redirect_uris',
  'scopes',
  'grant_types',
  'skip_consent',
  'require_pkce',
  'access_token_ttl',
  'audiences',
  'token_endpoint_auth_method',
  'jwks',
  'jwks_uri',
  'dpop_bound_access_tokens',
  'backchannel_logout_uri',
  'backchannel_logout_session_required',
] as const satisfies readonly (keyof Client)[];

/** Whether earlier tokens could do something that the client may no longer do. */
const mayLess = (before: Client, after: Client): boolean =>
  (['scopes', 'grant_types', 'audiences'] as const).some((name) => hasNew(after[name], before[name]));

const hasNew = (before: readonly string[], after: readonly string[]): boolean =>
  after.some((one) => !before.includes(one));

const withoutTimes = ({ client_id: _id, created_at: _at, updated_at: _then, ...client }: Client) => client;
