import { setImmediate } from 'node:timers/promises';
import type { Event, EventInput } from '../../../../generated/webhooks/types.ts';
import { isPassing } from '../../../db/engine/repetition.ts';
import { DomainError, Unavailable } from '../../../lib/errors.ts';
import { createCatalogue } from '../catalogue/catalogue.ts';
import { isPlatformType } from '../catalogue/platform-types.ts';
import type { Deps } from '../deps.ts';
import { newEventId } from '../event-ids.ts';
import { acceptStore, type NewEvent } from './accept.store.ts';
import { eventData } from '../catalogue/event-data.ts';
import { createIntake } from './intake.ts';

/** Who sends events. */
export interface Sender {
  readonly tenant: string;
  readonly app: string;
  readonly operator: boolean;
  /** Whether it is the relay, which sends whatever the services of the platform emit. */
  readonly isRelay?: boolean;
}

/** An event as it was sent. */
export interface SentEvent {
  readonly input: EventInput;
  /** The text of its data, which is what will be signed and sent; undefined where only the parsed data are known. */
  readonly text?: string | undefined;
}

/** What became of an event. */
export type Outcome =
  | { readonly event: Event; readonly isNew: boolean; readonly refusal?: undefined }
  | { readonly refusal: Error };

export interface Acceptance {
  /**
   * Stores events with their deliveries, each for itself, and tells in the same order what became of each.
   * @throws Unavailable when the database is away or too many events wait for it
   */
  accept(sender: Sender, inputs: readonly SentEvent[]): Promise<Outcome[]>;
  /** Stores what was accepted, and accepts nothing more. */
  close(): Promise<void>;
}

/** An event that is not decided yet. */
interface Draft extends SentEvent {
  readonly id: string;
  readonly created_at: Date;
  outcome?: Outcome;
}

/** How often the type of an event may change, or its key be freed, while it is accepted. */
const mostRounds = 10;
/** The milliseconds after which the events of a batch let other requests have their turn. */
const turnMs = 10;

export function createAcceptance(deps: Pick<Deps, 'db' | 'settings' | 'dispatcher'>): Acceptance {
  const { db } = deps;
  const catalogue = createCatalogue({ db });
  const intake = createIntake(deps);

  /** The event in the form in which it is stored. Throws its refusal. */
  async function judged(
    { tenant, app, operator, isRelay = false }: Sender,
    { input, text, ...draft }: Draft,
  ): Promise<NewEvent> {
    const { type, data, tenant_id = tenant, idempotency_key, order_key, channels } = input;
    const checked = eventData(data, text);
    const is_platform = isRelay || (operator && isPlatformType(type));
    const schema_hash = is_platform ? null : await catalogue.judge({ app, type, data });
    return {
      ...{ id: draft.id, created_at: draft.created_at, tenant_id, app_id: app, type, data: checked },
      ...{ idempotency_key, order_key, channels: [...new Set(channels)], schema_hash, is_platform },
    };
  }

  /** Judges the drafts one after the other; those that are refused get their outcome. */
  async function judgeAll(sender: Sender, drafts: readonly Draft[]): Promise<NewEvent[]> {
    const ready: NewEvent[] = [];
    let began = performance.now();
    for (const draft of drafts) {
      try {
        ready.push(await judged(sender, draft));
      } catch (refusal) {
        if (!isRefusal(refusal)) throw refusal;
        draft.outcome = { refusal };
      }
      if (performance.now() - began < turnMs) continue;
      await setImmediate();
      began = performance.now();
    }
    return ready;
  }

  /** Stores what can be stored. An event whose key is taken gets the event that holds it, also when its own type is refused by now. */
  async function round(sender: Sender, drafts: readonly Draft[]): Promise<void> {
    const ready = new Map((await judgeAll(sender, drafts)).map((event) => [event.id, event]));
    const results = await intake.store([...ready.values()]);
    for (const draft of drafts) {
      const event = ready.get(draft.id);
      const result = results.get(draft.id);
      if (result?.error !== undefined && isPassing(result.error)) throw result.error;
      if (result?.error !== undefined) draft.outcome = { refusal: result.error };
      else if (event && result?.stored)
        draft.outcome = { event: answered(event, draft.input, result.stored.delivery_count), isNew: true };
    }
    const losers = drafts.filter(
      ({ outcome, input }) =>
        outcome === undefined || (outcome.refusal !== undefined && input.idempotency_key !== null),
    );
    const existing = await existingOf(sender, losers);
    for (const draft of losers) {
      const event = existing.get(draft.id);
      if (event !== undefined) draft.outcome = { event, isNew: event.id === draft.id };
      else if (draft.outcome === undefined) catalogue.forget({ app: sender.app, type: draft.input.type });
    }
  }

  async function existingOf({ tenant, app }: Sender, drafts: readonly Draft[]): Promise<Map<string, Event>> {
    if (drafts.length === 0) return new Map();
    const found = await acceptStore(db.sql).existing(
      drafts.map(({ id, input: { tenant_id = tenant, idempotency_key } }) => ({
        ...{ id, tenant_id, app_id: app, idempotency_key },
      })),
    );
    return new Map(found.map(({ asked_id, ...event }) => [asked_id, event]));
  }

  return {
    async accept(sender, inputs) {
      const drafts: Draft[] = inputs.map((sent) => ({ ...sent, ...newEventId() }));
      let open = drafts;
      for (let rounds = 0; open.length > 0; rounds++) {
        if (rounds === mostRounds) throw Unavailable('store busy');
        await round(sender, open);
        open = open.filter(({ outcome }) => outcome === undefined);
      }
      return drafts.map(({ outcome }) => outcome!);
    },
    close: () => intake.close(),
  };
}

const isRefusal = (error: unknown): error is DomainError =>
  error instanceof DomainError && ['invalid', 'notFound', 'tooLarge'].includes(error.kind);

/** A stored event as it is answered, with the data that were sent. */
function answered(
  { schema_hash: _, is_platform: __, created_at, channels, ...event }: NewEvent,
  { data }: EventInput,
  delivery_count: number,
): Event {
  return { ...event, data, channels: [...channels], delivery_count, created_at: created_at.toISOString() };
}
