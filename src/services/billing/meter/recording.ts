import type {
  UsageEventCreate,
  UsageEventReceipt,
  UsageEventResult,
} from '../../../../generated/billing/types.ts';
import type { Context } from '../../../http/context.ts';
import type { DomainError } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { requestKeyOf } from '../request-keys.ts';
import { Refused } from '../errors.ts';
import { type UsageRow, usageStore } from './events.store.ts';
import type { Intake } from './intake.ts';
import { repeatsWithin } from './judgement.ts';
import { type Draft, draftOf, type NewUsage, type Origin } from './new-usage.ts';
import { inSlices } from '../../../lib/slices.ts';
import { duplicateEvent, isRepeat, outcomeOf } from './views.ts';

export type RecordingDeps = Pick<Deps, 'db' | 'clock' | 'settings'> & { readonly intake: Intake };

/**
 * Stores an event and returns its id. An event without a key of its own has that of the request, whose repetition is answered as the
 * first one.
 * @throws DomainError when it is refused or repeats another
 */
export async function recorded(
  deps: RecordingDeps,
  context: Context,
  sent: UsageEventCreate,
): Promise<string> {
  const requestKey = requestKeyOf(context);
  const isRequests = sent.idempotency_key === null && requestKey !== undefined;
  const draft = draftOf(
    isRequests ? { ...sent, idempotency_key: requestKey } : sent,
    originOf(deps, context),
  );
  if (draft.verdict === 'refused') throw refusal(draft);
  const { event } = draft;
  const id = (await deps.intake.add([event])).get(event.id)!;
  if (id === event.id) return id;
  const stored = await usageStore(deps.db.sql).find({ tenant: event.tenant, app: event.app }, id);
  if (isRequests && isRepeat(event, stored!)) return id;
  throw duplicateEvent(event, stored!);
}

/**
 * Stores the events of a batch that can be stored, and says of each what became of it. Events without a key of their own get one from that
 * of the request and their place in it.
 */
export async function recordedBatch(
  deps: RecordingDeps,
  context: Context,
  sentEvents: readonly UsageEventCreate[],
): Promise<UsageEventReceipt> {
  const origin = originOf(deps, context);
  const requestKey = requestKeyOf(context);
  const events = sentEvents.map((sent, at) =>
    requestKey === undefined || sent.idempotency_key !== null
      ? sent
      : { ...sent, idempotency_key: `${requestKey}:${at}` },
  );
  const drafts = await inSlices(events, (sent, at) => draftOf(sent, origin, `events[${at}].`));
  const taken = drafts.flatMap((draft) => (draft.verdict === 'taken' ? [draft.event] : []));
  const repeats = repeatsWithin(taken.map(keyed));
  const stored = await deps.intake.add(taken.filter(({ id }) => !repeats.has(id)));
  const storedId = ({ id }: NewUsage) => stored.get(repeats.get(id) ?? id)!;
  const duplicates = taken.filter((event) => storedId(event) !== event.id);
  const earlier = await storedFor(deps, origin.app, duplicates, storedId);
  return receiptOf(
    await inSlices(drafts, (draft, at) => {
      if (draft.verdict === 'refused') return rejected(draft);
      const outcome = outcomeOf(draft.event, earlier.get(storedId(draft.event)));
      const isRequests = sentEvents[at]!.idempotency_key === null;
      return isRequests && outcome.identical === true ? buffered(outcome) : outcome;
    }),
  );
}

/** What the first request was told of an event, for a repetition of it. */
const buffered = ({ id }: UsageEventResult): UsageEventResult => ({
  ...{ id, status: 'buffered', identical: null, error: null },
});

/** The events that are stored for others, by their ids. */
async function storedFor(
  { db }: Pick<RecordingDeps, 'db'>,
  app: string,
  duplicates: readonly NewUsage[],
  storedId: (event: NewUsage) => string,
): Promise<ReadonlyMap<string, UsageRow>> {
  if (duplicates.length === 0) return new Map();
  const keys = new Map(duplicates.map((event) => [storedId(event), event.tenant]));
  const rows = await usageStore(db.sql).findAll(
    app,
    [...keys].map(([id, tenant_id]) => ({ tenant_id, id })),
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const originOf = (
  { clock, settings: { lateWindowMs } }: RecordingDeps,
  { tenant, app, operator: isOperator }: Context,
): Origin => ({ tenant, app, isOperator, now: clock.now(), lateWindowMs });

/** Events of different tenants may have the same key. */
const keyed = ({ id, tenant, idempotencyKey }: NewUsage) => ({
  id,
  idempotencyKey: idempotencyKey && `${tenant} ${idempotencyKey}`,
});

type Refusal = Extract<Draft, { verdict: 'refused' }>;

const refusal = ({ code, message }: Refusal): DomainError =>
  Refused(code, message, { kind: code === 'forbidden' ? 'forbidden' : 'invalid' });

const rejected = ({ code, message }: Refusal): UsageEventResult => ({
  id: null,
  status: 'rejected',
  identical: null,
  error: { code, message },
});

function receiptOf(results: UsageEventResult[]): UsageEventReceipt {
  const count = (wanted: UsageEventResult['status']) =>
    results.filter(({ status }) => status === wanted).length;
  const [accepted, duplicates] = [count('buffered'), count('duplicate')];
  return { accepted, rejected: results.length - accepted, duplicates, results };
}
