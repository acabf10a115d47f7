import type { Endpoints } from '../../../../generated/webhooks/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { viewOf } from '../../../http/view.ts';
import { targetRules } from '../../../lib/outbound-targets.ts';
import type { Deps } from '../deps.ts';
import { newestById } from '../newest-by-id.ts';
import { createEndpoint, deleteEndpoint, switchEndpoint, updateEndpoint } from './endpoint-writes.ts';
import { endpointStore, type Reach } from './endpoints.store.ts';
import { secretStore } from './secrets.store.ts';
import { openedSecret } from './secrets.ts';
import { rotateSecret } from './rotation.ts';
import { sendTest } from './test-events.ts';

/** Endpoints: the addresses that receive a tenant's events, and their secrets. */
export const endpoints = (deps: Deps) => {
  const { db, sealing } = deps;
  const { judge } = targetRules({ allowPrivate: deps.allowPrivateTargets, allowNetworks: [] });
  return {
    async create({ body }, context) {
      const endpoint = await createEndpoint(deps, judge, context, body);
      context.reply.header('Cache-Control', 'no-store');
      return endpoint;
    },

    async list({ tenant_id, enabled, ...request }, context) {
      const window = windowOf(request, newestById);
      const found = await endpointStore(db.sql).list(viewOf(context, tenant_id), enabled, window);
      return answerPage(context.reply, window, found);
    },

    get: ({ id }, context) => endpointStore(db.sql).get(reachOf(context), id),

    update: ({ id, body }, context) =>
      updateEndpoint(deps, judge, { context, reach: reachOf(context), ref: id }, body),

    delete: ({ id }, context) => deleteEndpoint(deps, { context, reach: reachOf(context), ref: id }),

    enable: ({ id }, context) => switchEndpoint(deps, { context, reach: reachOf(context), ref: id }, true),

    disable: ({ id }, context) => switchEndpoint(deps, { context, reach: reachOf(context), ref: id }, false),

    async rotateSecret({ id, body = { overlap: '24h' } }, context) {
      const rotated = await rotateSecret(deps, { context, reach: reachOf(context), ref: id }, body);
      context.reply.header('Cache-Control', 'no-store');
      return rotated;
    },

    async secret({ id }, context) {
      const owner = await endpointStore(db.sql).owner(reachOf(context), id);
      const secret = openedSecret(sealing, owner, await secretStore(db.sql).current(owner));
      context.reply.header('Cache-Control', 'no-store');
      return { secret };
    },

    async test({ id, body }, context) {
      const owner = await endpointStore(db.sql).owner(reachOf(context), id);
      const delivery = await sendTest(deps, owner, context.app, body);
      context.reply.status(201);
      return delivery;
    },
  } satisfies Endpoints<Context>;
};

/** The operator names endpoints of other tenants by their id only, because tenants may choose the same `uid`. */
export const reachOf = (context: Pick<Context, 'operator' | 'tenant' | 'app'>): Reach => ({
  view: viewOf(context),
  tenant: context.tenant,
});
