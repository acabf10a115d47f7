import canonicalize from 'canonicalize';
import type { UsageEventCreate } from '../../../../generated/billing/types.ts';
import { quantityFault } from '../money/quantities.ts';

/** How far ahead of the server a caller's clock may be. */
export const mostAheadMs = 5 * 60_000;

/** An event that is taken, or why it is not. */
export type Judgement =
  | { readonly verdict: 'taken'; readonly timestamp: number }
  | {
      readonly verdict: 'refused';
      readonly code: 'invalid_input' | 'event_too_old' | 'forbidden';
      readonly param: string;
      readonly message: string;
    };

export interface JudgementTerms {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly lateWindowMs: number;
  readonly isOperator: boolean;
}

/** Decides about an event that satisfies the contract. One that is a little ahead of the server's clock happens now. */
export function judge(
  { quantity, timestamp }: Pick<UsageEventCreate, 'quantity' | 'timestamp'>,
  { now, lateWindowMs, isOperator }: JudgementTerms,
): Judgement {
  const fault = quantityFault(quantity);
  if (fault !== undefined) return refused('invalid_input', 'quantity', fault);
  if (quantity < 0 && !isOperator)
    return refused('forbidden', 'quantity', 'only the operator may send a negative one');
  const happened = timestamp === undefined ? now : Date.parse(timestamp);
  if (happened > now + mostAheadMs) return refused('invalid_input', 'timestamp', 'more than 5 minutes ahead');
  if (happened < now - lateWindowMs)
    return refused('event_too_old', 'timestamp', `older than ${text(lateWindowMs)}`);
  return { verdict: 'taken', timestamp: Math.min(happened, now) };
}

const refused = (
  code: 'invalid_input' | 'event_too_old' | 'forbidden',
  param: string,
  problem: string,
): Judgement => ({
  verdict: 'refused',
  code,
  param,
  message: `${param}: ${problem}`,
});

const text = (ms: number) => (ms % 86_400_000 === 0 ? `${ms / 86_400_000} days` : `${ms / 3_600_000} hours`);

/** What makes two events with the same idempotency key the same event: the members as they were sent. */
export interface SentEvent {
  readonly featureKey: string;
  /** In its shortest form. */
  readonly quantity: string;
  readonly metadata: unknown;
  /** Milliseconds since 1970; null when the server's time was taken. */
  readonly sentTimestamp: number | null;
}

/** Whether an event is a repeat of the one that is stored, so that its sender may take it as accepted. */
export const isIdentical = (one: SentEvent, other: SentEvent): boolean =>
  one.featureKey === other.featureKey &&
  one.quantity === other.quantity &&
  one.sentTimestamp === other.sentTimestamp &&
  canonicalize(one.metadata) === canonicalize(other.metadata);

/** An event of a batch, under the id that it has if it is stored. */
export interface KeyedEvent {
  readonly id: string;
  readonly idempotencyKey: string | null;
}

/** For each event of a batch that repeats the key of an earlier one, the id of that one. */
export function repeatsWithin(events: readonly KeyedEvent[]): Map<string, string> {
  const first = new Map<string, string>();
  const repeats = new Map<string, string>();
  for (const { id, idempotencyKey } of events) {
    if (idempotencyKey === null) continue;
    const earlier = first.get(idempotencyKey);
    if (earlier === undefined) first.set(idempotencyKey, id);
    else repeats.set(id, earlier);
  }
  return repeats;
}
