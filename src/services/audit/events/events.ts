import type { Events } from '../../../../generated/audit/server.ts';
import type { AuditEvent, EventInput, EventReceipt, QueryResult } from '../../../../generated/audit/types.ts';
import type { Context } from '../../../http/context.ts';
import { type PageRequest, windowOf } from '../../../http/lists.ts';
import { checkOwnItems } from '../../../http/own-scope.ts';
import { viewOf } from '../../../http/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { Recorded } from '../append/recording.ts';
import { newEvent } from '../append/new-event.ts';
import type { Deps } from '../deps.ts';
import { withinOf } from '../periods.ts';
import { inSlices } from '../../../lib/slices.ts';
import { eventCsvHeader, eventCsvLine } from './csv.ts';
import { type EventFilter, eventStore, orders, type Place } from './events.store.ts';
import { allEvents } from './exports.ts';
import { filterOf, type SentFilter } from './filters.ts';
import { eventPage } from './pages.ts';
import { placeIn, streamsIn } from './places.ts';
import { eventViews, recordedView, storedRecord } from './views.ts';

/** Events: recorded once and never changed. */
export const events = (deps: Pick<Deps, 'db' | 'sealer' | 'known' | 'intake'>) => {
  const { db, sealer } = deps;

  const placesOf = async (context: Context, { tenant_id, ...sent }: SentFilter & OfTenant) => {
    const streams = await streamsIn(deps, viewOf(context, tenant_id));
    return streams.map((stream) => placeIn(stream, sent));
  };

  return {
    async create({ body }, context) {
      const [recorded] = await recordedFor(deps, context, [body], () => '');
      context.reply.status(recorded!.duplicate ? 200 : 201);
      context.reply.header('Cache-Control', 'no-store');
      if (recorded!.chained !== undefined) return recordedView(recorded!.chained);
      const row = await eventStore(db.sql).get(viewOf(context), recorded!.id);
      const [event] = await eventViews(sealer, [row]);
      return event!;
    },

    async createBatch({ body }, context) {
      checkOwnItems(context, 'events', body.events);
      const recorded = await recordedFor(deps, context, body.events, (at) => `events[${at}].`);
      return { events: await receipts(deps, context, recorded) };
    },

    async list({ limit, offset, cursor, order, ...sent }, context) {
      const places = await placesOf(context, sent);
      return await queried(deps, { limit, offset, cursor }, order, places, filterOf(sent));
    },

    async listByUser({ userId, limit, offset, cursor, from, to, tenant_id }, context) {
      const places = await placesOf(context, { user_id: userId, tenant_id });
      return await queried(deps, { limit, offset, cursor }, 'desc', places, withinOf({ from, to }));
    },

    async exportNdjson(sent, context) {
      return allEvents(deps, await placesOf(context, sent), filterOf(sent));
    },

    async exportCsv(sent, context) {
      return csvOf(allEvents(deps, await placesOf(context, sent), filterOf(sent)));
    },

    async get({ id }, context) {
      const row = await eventStore(db.sql).get(viewOf(context), id);
      const [event] = await eventViews(sealer, [row]);
      return event!;
    },

    async record({ id }, context) {
      return storedRecord(await eventStore(db.sql).get(viewOf(context), id));
    },

    async aggregate({ body: { group_by, from, to, categories, tenant_id } }, context) {
      const filter = { ...withinOf({ from, to }), categories };
      return await eventStore(db.sql).groups(viewOf(context, tenant_id), group_by, filter);
    },
  } satisfies Events<Context>;
};

interface OfTenant {
  readonly tenant_id?: string | undefined;
}

/** Records the events of a request, all or none. */
async function recordedFor(
  { known, intake }: Pick<Deps, 'known' | 'intake'>,
  { tenant, app, credential }: Context,
  inputs: readonly EventInput[],
  pathOf: (at: number) => string,
): Promise<readonly Recorded[]> {
  const recordedBy = `${credential.kind}:${credential.id}`;
  const now = Date.now();
  const drafts = await inSlices(inputs, (input, at) =>
    newEvent(input, { tenant: input.tenant_id ?? tenant, app, recordedBy, source: null }, pathOf(at), now),
  );
  const streams = new Map(
    await Promise.all(
      [...new Set(drafts.map((draft) => draft.tenant))].map(
        async (name) => [name, await known.of(name, app)] as const,
      ),
    ),
  );
  return await intake.add({ events: drafts.map((event) => ({ event, stream: streams.get(event.tenant)! })) });
}

/** What the caller learns of the events of a batch; those recorded before are read. */
async function receipts(
  { db }: Pick<Deps, 'db'>,
  context: Context,
  recorded: readonly Recorded[],
): Promise<EventReceipt[]> {
  const before = recorded.filter(({ chained }) => chained === undefined).map(({ id }) => id);
  const rows = before.length === 0 ? [] : await eventStore(db.sql).all(viewOf(context), before);
  const known = new Map(rows.map((row) => [row.id, row]));
  return recorded.map(({ id, duplicate, chained }) => {
    if (chained === undefined) {
      const row = known.get(id);
      // Its event was purged in this moment.
      if (row === undefined) throw NotFound('event');
      const { sequence, hash, stream_id } = row;
      return { id, sequence, hash: hash.toString('hex'), stream_id, duplicate };
    }
    const { record, hash } = chained;
    return {
      id,
      sequence: record.sequence,
      hash: hash.toString('hex'),
      stream_id: record.stream_id,
      duplicate,
    };
  });
}

async function queried(
  { db, sealer }: Pick<Deps, 'db' | 'sealer'>,
  request: PageRequest,
  order: 'asc' | 'desc',
  places: readonly Place[],
  filter: EventFilter,
): Promise<QueryResult> {
  const window = windowOf(request, orders[order]);
  const store = eventStore(db.sql);
  const [rows, total] = await Promise.all([store.list(places, filter, window), store.count(places, filter)]);
  const { items, next } = eventPage(window, rows);
  return { events: await eventViews(sealer, items), total, next_cursor: next };
}

async function* csvOf(events: AsyncIterable<AuditEvent>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(eventCsvHeader);
  for await (const event of events) yield Buffer.from(eventCsvLine(event));
}
