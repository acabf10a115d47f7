import type { Deliveries } from '../../../../generated/webhooks/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { reachOf } from '../endpoints/endpoints.ts';
import { endpointStore } from '../endpoints/endpoints.store.ts';
import { newestById } from '../newest-by-id.ts';
import { deliveryStore } from './deliveries.store.ts';
import { filteredEndpoint } from './endpoint-refs.ts';

/** Deliveries: events on their way to endpoints. */
export const deliveries = ({ db, dispatcher }: Pick<Deps, 'db' | 'dispatcher'>) =>
  ({
    async list({ id, state, event_type: eventType, from, to, ...request }, context) {
      const [window, view] = [windowOf(request, newestById), viewOf(context)];
      const { id: endpointId } = await endpointStore(db.sql).owner(reachOf(context), id);
      const filter = { endpointId, state, eventType, from, to };
      const { rows, resumed } = await deliveryStore(db.sql).list(view, filter, window);
      return answerPage(context.reply, window, rows, resumed);
    },

    async listAll({ tenant_id, state, event_type: eventType, from, to, endpoint_id, ...request }, context) {
      const [window, view] = [windowOf(request, newestById), viewOf(context, tenant_id)];
      const endpointId = await filteredEndpoint(db, reachOf(context), endpoint_id);
      const filter = { endpointId, state, eventType, from, to };
      const { rows, resumed } = await deliveryStore(db.sql).list(view, filter, window);
      return answerPage(context.reply, window, rows, resumed);
    },

    get: ({ id }, context) => deliveryStore(db.sql).get(viewOf(context), id),

    async attempts({ id }, context) {
      const store = deliveryStore(db.sql);
      return await store.attempts(await store.get(viewOf(context), id));
    },

    async retry({ id }, context) {
      const [store, view] = [deliveryStore(db.sql), viewOf(context)];
      const delivery = await store.makeDue(view, id);
      if (delivery === undefined) {
        await store.get(view, id);
        throw Invalid('delivery is not pending');
      }
      dispatcher.hint([delivery.endpoint_id]);
      return delivery;
    },
  }) satisfies Deliveries<Context>;
