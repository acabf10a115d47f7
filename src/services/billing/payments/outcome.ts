import type { PaymentStatus } from '../../../../generated/billing/types.ts';

/** What has become of a payment, as somebody says who knows. Absent amounts are the expected ones. */
export type Outcome =
  | { readonly kind: 'succeeded'; readonly amount?: bigint; readonly currency?: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'canceled' }
  /** `total` is what was refunded so far, `more` what was refunded now. */
  | {
      readonly kind: 'refunded';
      readonly total?: bigint;
      readonly more?: bigint;
      readonly currency?: string;
    };

/** The part of a payment that outcomes change. */
export interface Standing {
  readonly status: PaymentStatus;
  readonly received: bigint;
  readonly refunded: bigint;
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** What was asked for. */
export interface Expected {
  readonly amount: bigint;
  readonly currency: string;
}

/** The new standing; why an outcome cannot be; or undefined when it changes nothing. */
export type Move = Standing | { readonly fault: string } | undefined;

/**
 * Moves a payment to an outcome. The order in which outcomes arrive, and how often, does not matter for where they lead: what has
 * arrived and what was refunded only rise; success wins over cancellation, and cancellation over failure.
 */
export function moved(standing: Standing, expected: Expected, outcome: Outcome): Move {
  if ('currency' in outcome && outcome.currency !== undefined && outcome.currency !== expected.currency)
    return { fault: 'an outcome in another currency' };
  switch (outcome.kind) {
    case 'succeeded':
      return succeeded(standing, outcome.amount ?? expected.amount);
    case 'canceled':
      if (standing.status !== 'pending' && standing.status !== 'failed') return undefined;
      return { ...standing, status: 'canceled', failure: null };
    case 'failed':
      if (standing.status !== 'pending') return undefined;
      return { ...standing, status: 'failed', failure: { code: outcome.code, message: outcome.message } };
    case 'refunded':
      return refunded(standing, expected, outcome);
  }
}

const hasSucceeded = ({ status }: Standing): boolean => status === 'succeeded' || status === 'refunded';

/** A smaller amount than expected is a success, too; the rest remains due. */
function succeeded(standing: Standing, amount: bigint): Move {
  const received = amount > standing.received ? amount : standing.received;
  if (hasSucceeded(standing) && received === standing.received) return undefined;
  return {
    ...{ received, refunded: standing.refunded, failure: null },
    status: standing.refunded > 0n ? 'refunded' : 'succeeded',
  };
}

/** A refund that is heard of before the success is noted, and shows when the success is heard of. */
function refunded(
  standing: Standing,
  { amount }: Expected,
  { total, more }: { readonly total?: bigint; readonly more?: bigint },
): Move {
  const told = more === undefined ? (total ?? amount) : standing.refunded + more;
  if (told <= standing.refunded) return undefined;
  if (told > (amount > standing.received ? amount : standing.received))
    return { fault: 'a refund of more than was paid' };
  return { ...standing, refunded: told, status: hasSucceeded(standing) ? 'refunded' : standing.status };
}

const lesser = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const notBelow0 = (amount: bigint): bigint => (amount < 0n ? 0n : amount);

/** What is given of the money that an invoice did not need, and what of it refunds have taken before it was given. */
export function creditOf(
  { growth, reclaimed: before }: { readonly growth: bigint; readonly reclaimed: bigint },
  { unapplied, refunds }: { readonly unapplied: bigint; readonly refunds: bigint },
): { readonly given: bigint; readonly reclaimed: bigint } {
  const taken = lesser(notBelow0(lesser(unapplied, refunds) - before), growth);
  return { given: growth - taken, reclaimed: before + taken };
}

/**
 * What refunds of a payment take back of credit: first what its invoice did not need, then what later invoices have given back of the
 * charges that it paid, unless they already left out what was refunded.
 */
export function reclaimed(
  unapplied: bigint,
  refunds: bigint,
  {
    given,
    withheld,
    reclaimedByOthers,
    refundedByOthers,
  }: {
    readonly given: bigint;
    readonly withheld: bigint;
    readonly reclaimedByOthers: bigint;
    readonly refundedByOthers: bigint;
  },
): bigint {
  const returned = notBelow0(refunds - unapplied - notBelow0(withheld - refundedByOthers));
  return lesser(unapplied, refunds) + lesser(returned, notBelow0(given - reclaimedByOthers));
}
