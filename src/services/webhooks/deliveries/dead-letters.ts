import type { Dlq } from '../../../../generated/webhooks/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { viewOf } from '../../../http/view.ts';
import { parseDuration } from '../../../lib/durations.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { reachOf } from '../endpoints/endpoints.ts';
import { newestById } from '../newest-by-id.ts';
import { deadLetterStore } from './dead-letters.store.ts';
import { filteredEndpoint } from './endpoint-refs.ts';
import { checkChoice, replay, replayChosen } from './replays.ts';

/** Dead letters: deliveries that failed for good. */
export const dlq = ({ db, write, dispatcher }: Pick<Deps, 'db' | 'write' | 'dispatcher'>) =>
  ({
    async list({ tenant_id, endpoint_id, event_type: eventType, from, to, ...request }, context) {
      const [window, view] = [windowOf(request, newestById), viewOf(context, tenant_id)];
      const endpointId = await filteredEndpoint(db, reachOf(context), endpoint_id);
      const filter = { endpointId, eventType, from, to };
      const { rows, resumed } = await deadLetterStore(db.sql).list(view, filter, window);
      return answerPage(context.reply, window, rows, resumed);
    },

    count: async ({ tenant_id }, context) => ({
      count: await deadLetterStore(db.sql).count(viewOf(context, tenant_id)),
    }),

    get: ({ id }, context) => deadLetterStore(db.sql).get(viewOf(context), id),

    delete: ({ id }, context) => deadLetterStore(db.sql).delete(viewOf(context), id),

    async purge({ body }, context) {
      const { older_than = '720h', endpoint_id, tenant_id } = body ?? {};
      const view = viewOf(context, tenant_id);
      const olderThanMs = parseDuration(older_than, 'older_than');
      const endpointId = await filteredEndpoint(db, reachOf(context), endpoint_id);
      return await write(context, async ({ sql, emit }) => {
        const purged = await deadLetterStore(sql).purge(view, { olderThanMs, endpointId });
        emit(
          'webhooks.dlq.purged',
          { id: endpointId ?? context.app, tenant_id: view.tenant ?? context.tenant },
          { purged, older_than },
        );
        return { purged };
      });
    },

    async replay({ id }, context) {
      const [made] = await write(context, (tx) => replay(tx, viewOf(context), [id]));
      if (made === undefined) throw NotFound('dlq entry');
      dispatcher.hint([made.delivery.endpoint_id]);
      return made.delivery;
    },

    async replayMany({ body }, context) {
      checkChoice(body);
      const view = viewOf(context, body.tenant_id);
      const { event_type: eventType, from, to } = body;
      const endpointId = await filteredEndpoint(db, reachOf(context), body.endpoint_id);
      const { made, ...result } = await write(context, (tx) =>
        replayChosen(tx, view, body.ids ?? { endpointId, eventType, from, to }),
      );
      dispatcher.hint([...new Set(made.map(({ delivery }) => delivery.endpoint_id))]);
      return { replayed: made.length, deliveries: made.map(({ delivery }) => delivery.id), ...result };
    },
  }) satisfies Dlq<Context>;
