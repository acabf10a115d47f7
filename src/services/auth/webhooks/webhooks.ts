import type { Webhooks } from '../../../../generated/auth/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { Conflict, Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Outbound } from '../../../lib/outbound.ts';
import { appOfCaller } from '../directory/app-context.ts';
import { momentText } from '../../../lib/moments.ts';
import { bodyOf, newDelivery } from './deliveries.ts';
import type { Deps } from './deps.ts';
import { deliveryStore, testEvent } from './deliveries.store.ts';
import { webhookStore } from './webhooks.store.ts';

/** Maximum number of webhooks per app. */
const mostWebhooks = 20;

/** Webhooks: addresses that receive the events of an app. */
export const webhooks = ({ db, write, changes, directory, outbound, deliveries }: Deps) =>
  ({
    async create({ body }, context) {
      checkTarget(outbound, body.url);
      const app = await appOfCaller(directory, context, body.app_id);
      const { secret, box } = deliveries.newSecret(app.tenant);
      const author = { tenant: app.tenant, app: app.id, actor: context.actor };
      const webhook = await write(author, async ({ sql }) => {
        const store = webhookStore(sql);
        if ((await store.countLocked(app.tenant, app.id)) >= mostWebhooks)
          throw Conflict(`limit reached: ${mostWebhooks} webhooks`);
        return store.insert({
          ...body,
          id: newId('whk'),
          tenant_id: app.tenant,
          app_id: app.id,
          secret_box: box,
        });
      });
      context.reply.header('Cache-Control', 'no-store');
      return { ...webhook, secret };
    },

    async list({ app_id }, context) {
      const app = await appOfCaller(directory, context, app_id);
      return { webhooks: await webhookStore(db.sql).list(app.tenant, app.id) };
    },

    async get({ webhookId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return webhookStore(db.sql).get(app.tenant, app.id, webhookId);
    },

    async update({ webhookId, body }, context) {
      if (body.url !== undefined) checkTarget(outbound, body.url);
      const app = await appOfCaller(directory, context, undefined);
      if (body.app_id !== undefined && body.app_id !== app.id) throw Invalid('app_id: cannot be changed');
      return db.transaction(async (sql) => {
        const webhook = await webhookStore(sql).update(app.tenant, app.id, webhookId, body);
        if (body.active === true) await deliveries.wake(sql);
        return webhook;
      });
    },

    async delete({ webhookId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await webhookStore(db.sql).delete(app.tenant, app.id, webhookId);
      return { status: 'deleted' };
    },

    async rotateSecret({ webhookId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      const { secret, box } = deliveries.newSecret(app.tenant);
      const webhook = await webhookStore(db.sql).rotate(app.tenant, app.id, webhookId, box);
      context.reply.header('Cache-Control', 'no-store');
      return { ...webhook, secret };
    },

    async test({ webhookId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return db.transaction(async (sql) => {
        await webhookStore(sql).get(app.tenant, app.id, webhookId);
        const event = {
          type: testEvent,
          source: '/auth' as const,
          subject: webhookId,
          tenant: app.tenant,
          app: app.id,
          actor: context.actor,
          data: { app_id: app.id },
          id: newId('evt'),
          time: momentText(changes.clock.now()),
        };
        const delivery = newDelivery(event, webhookId, bodyOf(event));
        await deliveryStore(sql).insert([delivery]);
        await deliveries.wake(sql);
        return deliveryStore(sql).get(app.tenant, webhookId, delivery.id);
      });
    },

    async deliveries({ webhookId, ...request }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await webhookStore(db.sql).get(app.tenant, app.id, webhookId);
      const window = windowOf(request);
      const found = await deliveryStore(db.sql).list(app.tenant, webhookId, window);
      return { deliveries: answerPage(context.reply, window, found) };
    },

    async retry({ webhookId, deliveryId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return db.transaction(async (sql) => {
        await webhookStore(sql).get(app.tenant, app.id, webhookId);
        const store = deliveryStore(sql);
        await store.retry(app.tenant, webhookId, deliveryId);
        await deliveries.wake(sql);
        return store.get(app.tenant, webhookId, deliveryId);
      });
    },
  }) satisfies Webhooks<Context>;

function checkTarget(outbound: Outbound, url: string): void {
  const problem = outbound.judge(url);
  if (problem !== undefined) throw Invalid(`url: ${problem}`);
}
