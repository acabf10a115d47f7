import type { Events } from '../../../../generated/webhooks/server.ts';
import type { EventBatchItem, EventInput } from '../../../../generated/webhooks/types.ts';
import type { Context } from '../../../http/context.ts';
import { jsonTextOf } from '../../../http/json.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { viewOf } from '../../../http/view.ts';
import { DomainError, type ErrorKind, Forbidden } from '../../../lib/errors.ts';
import { deliveryStore } from '../deliveries/deliveries.store.ts';
import type { Deps } from '../deps.ts';
import { newestById } from '../newest-by-id.ts';
import type { Acceptance, Outcome, SentEvent } from './acceptance.ts';
import { dataTexts } from './data-texts.ts';
import { eventStore } from './events.store.ts';

/** Events: accepted together with their deliveries, and never changed. */
export const events = ({
  db,
  log,
  acceptance,
}: Pick<Deps, 'db' | 'log'> & { readonly acceptance: Acceptance }) =>
  ({
    async create({ body }, context) {
      const [outcome] = (await acceptance.accept(context, sent(body, [body]))) as [Outcome];
      if (outcome.refusal !== undefined) throw outcome.refusal;
      context.reply.status(outcome.isNew ? 201 : 200);
      return outcome.event;
    },

    async createBatch({ body }, context) {
      checkTenants(body.events, context);
      const outcomes = await acceptance.accept(context, sent(body, body.events));
      for (const { refusal } of outcomes)
        if (refusal !== undefined && statusOf(refusal) === undefined)
          log.error({ err: refusal }, 'an event was not stored');
      return { results: outcomes.map(itemOf) };
    },

    async list({ tenant_id, type, from, to, ...request }, context) {
      const window = windowOf(request, newestById);
      const [store, view] = [eventStore(db.sql), viewOf(context, tenant_id)];
      const { rows, resumed } = await store.list(view, { type, from, to }, window);
      return answerPage(context.reply, window, rows, resumed);
    },

    get: ({ id }, context) => eventStore(db.sql).get(viewOf(context), id),

    async deliveries({ id, ...request }, context) {
      const window = windowOf(request, newestById);
      const event = await eventStore(db.sql).get(viewOf(context), id);
      const view = { app: event.app_id, tenant: event.tenant_id };
      const { rows } = await deliveryStore(db.sql).list(view, { eventId: id }, window);
      return answerPage(context.reply, window, rows);
    },
  }) satisfies Events<Context>;

/** Events with the texts of their data, because what was sent is what will be signed. */
function sent(body: object, inputs: readonly EventInput[]): SentEvent[] {
  const text = jsonTextOf(body);
  const texts = text === undefined ? [] : dataTexts(text.trim());
  return inputs.map((input, at) => ({ input, text: texts[at] }));
}

/** The frame looks only at the tenant of the whole request. */
function checkTenants(inputs: readonly EventInput[], { operator, tenant }: Context): void {
  if (operator) return;
  const foreign = inputs.findIndex(({ tenant_id = tenant }) => tenant_id !== tenant);
  if (foreign >= 0) throw Forbidden(`events[${foreign}].tenant_id: not the caller's own`);
}

function itemOf(outcome: Outcome): EventBatchItem {
  if (outcome.refusal === undefined)
    return { status: outcome.isNew ? 201 : 200, event: outcome.event, error: null };
  const status = statusOf(outcome.refusal);
  const error = status === undefined ? 'event: cannot be stored' : outcome.refusal.message;
  return { status: status ?? 400, event: null, error };
}

const statuses: Partial<Record<ErrorKind, 400 | 404 | 413>> = { invalid: 400, notFound: 404, tooLarge: 413 };

/** The status that the contract gives an event that was refused; undefined for an error of the server. */
const statusOf = (refusal: Error) => (refusal instanceof DomainError ? statuses[refusal.kind] : undefined);
