import { isDeepStrictEqual } from 'node:util';
import type { Clients } from '../../../generated/auth/server.ts';
import type { Client, ClientUpdate } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, newestFirst, placeOf } from '../../http/lists.ts';
import { parseDuration } from '../../lib/durations.ts';
import { Conflict, Invalid } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { appOfCaller, authorOf } from './app-context.ts';
import { checkClient } from './client-rules.ts';
import { clientStore } from './clients.store.ts';
import type { Deps } from './deps.ts';
import { checkFixed } from './fixed.ts';
import { checkMayGive } from './guarded-scopes.ts';
import { cleanLabel } from './labels.ts';
import { issueToken } from './tokens.ts';
import type { Write } from './writes.ts';

/** The longest that a replaced secret goes on working. */
const longestGraceMs = 720 * 3_600_000;

/** Clients: programs that sign users in, or act for themselves, by OAuth. */
export const clients = ({ db, directory, write }: Deps) =>
  ({
    async create({ body: { app_id, ...body } }, context) {
      const app = await appOfCaller(directory, context, app_id);
      checkClient(body);
      checkMayGive(context, body.scopes);
      const secret = body.public ? null : issueToken('sec', await directory.tagOf(app.tenant));
      const client = {
        ...body,
        name: cleanLabel('name', body.name),
        scopes: [...new Set(body.scopes)],
        require_pkce: body.require_pkce ?? body.public,
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
      const found = await clientStore(db.sql).list(app.tenant, app.id, newestFirst(request));
      return { clients: answerPage(context.reply, found, request.limit, placeOf) };
    },

    async get({ clientId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return clientStore(db.sql).get(app.tenant, app.id, clientId);
    },

    async update({ clientId, body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), (tx) => changeClient(tx, context, clientId, body));
    },

    async delete({ clientId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const store = clientStore(tx.sql);
        await store.lock(tx.tenant, tx.app, clientId);
        await store.delete(tx.tenant, tx.app, clientId);
        tx.changed('client', clientId);
        tx.emit('auth.client.deleted', clientId, { client_id: clientId });
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
        // Who holds the secret may do what the client may.
        checkMayGive(context, known.scopes);
        tx.changed('client', clientId, 'forget');
        tx.emit('auth.client.updated', clientId, { client_id: clientId, fields: ['client_secret'] });
        return store.replaceSecret(tx.tenant, known, secret.hash, graceMs);
      });
      context.reply.header('Cache-Control', 'no-store');
      return { ...client, client_secret: secret.token };
    },
  }) satisfies Clients<Context>;

async function changeClient(
  tx: Write,
  context: Context,
  id: string,
  { app_id, public: isPublic, ...body }: ClientUpdate,
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
  const fields = changeable.filter((name) => !isDeepStrictEqual(next[name], client[name]));
  if (fields.length === 0) return client;
  // Another redirect URI or grant hands the scopes to somebody else, so whoever changes it must hold them, too.
  if (fields.some((name) => name !== 'name')) checkMayGive(context, next.scopes);
  tx.changed('client', id, mayLess(client, next) ? 'reload' : 'forget');
  tx.emit('auth.client.updated', id, { client_id: id, fields });
  return store.update(tx.tenant, withoutTimes(next));
}

const changeable = [
  'name',
  'redirect_uris',
  'post_logout_redirect_uris',
  'scopes',
  'grant_types',
  'skip_consent',
  'require_pkce',
  'access_token_ttl',
  'audiences',
] as const satisfies readonly (keyof Client)[];

/** Whether tokens from before could do what the client may not do any more. */
const mayLess = (before: Client, after: Client): boolean =>
  (['scopes', 'grant_types', 'audiences'] as const).some((name) =>
    before[name].some((one: string) => !(after[name] as readonly string[]).includes(one)),
  );

const withoutTimes = ({ client_id: _id, created_at: _at, updated_at: _then, ...client }: Client) => client;
