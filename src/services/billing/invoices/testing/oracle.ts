/**
 * A second, slow and obvious account of what a subscription owes, which shares no code with the first. It knows neither segments
 * nor settlements: it walks through a diary of what the tenant did, tick after tick, and adds up what each tick owes.
 */
import { Big } from 'big.js';

/** A plan as its owner would describe it. */
export interface DiaryPlan {
  readonly name: string;
  readonly months: number;
  readonly base: number;
  /** For calls that are counted; each tier up to a number of units, the last one endless. */
  readonly calls: readonly { readonly upTo: number; readonly unit: string; readonly flat: number }[];
  readonly callsType: 'graduated' | 'volume' | 'flat';
  /** Minor units for each seat. */
  readonly seat: string;
}

/** What happened, in the order in which it took effect. */
export type DiaryEntry =
  | { readonly at: number; readonly what: 'change'; readonly plan: DiaryPlan; readonly prorate: boolean }
  /** A new revision of the plan, for the periods that follow. */
  | { readonly at: number; readonly what: 'revise'; readonly plan: DiaryPlan }
  | { readonly at: number; readonly what: 'pause' }
  | { readonly at: number; readonly what: 'resume' }
  | { readonly at: number; readonly what: 'cancel' };

/** An event that counts: when it happened, not when it was known. */
export interface DiaryUse {
  readonly at: number;
  readonly feature: 'calls' | 'seats';
  readonly quantity: string;
}

/** A day of the same number n months later, or the last one of that month: found by trying. */
function later(anchor: number, months: number): number {
  const from = new Date(anchor);
  for (let day = from.getUTCDate(); ; day -= 1) {
    const to = new Date(anchor);
    to.setUTCDate(1);
    to.setUTCMonth(from.getUTCMonth() + months);
    const month = to.getUTCMonth();
    to.setUTCDate(day);
    if (to.getUTCMonth() === month) return to.getTime();
  }
}

const halfAway = (value: Big): Big =>
  value.lt(0) ? value.abs().round(0, Big.roundHalfUp).times(-1) : value.round(0, Big.roundHalfUp);

/** The price of calls, unit after unit; the last unit may be a part of one. */
function priceOfCalls({ calls, callsType }: DiaryPlan, quantity: Big): Big {
  if (quantity.lte(0)) return new Big(0);
  const tierOf = (unit: Big) => calls.findIndex(({ upTo }) => upTo === -1 || unit.lte(upTo));
  const last = calls[tierOf(quantity)]!;
  if (callsType === 'flat') return new Big(last.flat);
  if (callsType === 'volume') return halfAway(quantity.times(last.unit)).plus(last.flat);
  const sums = calls.map(() => new Big(0));
  const reached = calls.map(() => false);
  for (let unit = new Big(1); unit.minus(1).lt(quantity); unit = unit.plus(1)) {
    const part = unit.gt(quantity) ? quantity.minus(unit.minus(1)) : new Big(1);
    const tier = tierOf(unit);
    sums[tier] = sums[tier]!.plus(part.times(calls[tier]!.unit));
    reached[tier] = true;
  }
  return calls.reduce(
    (sum, { flat }, tier) => (reached[tier] ? sum.plus(halfAway(sums[tier]!)).plus(flat) : sum),
    new Big(0),
  );
}

/**
 * What is owed in minor units, until `end` (a canceled subscription owes nothing more).
 *
 * @param tick the distance of all moments in milliseconds
 */
export function owedByDiary(
  {
    start,
    trialEnd,
    plan: first,
    entries,
    uses,
  }: {
    readonly start: number;
    readonly trialEnd: number;
    readonly plan: DiaryPlan;
    readonly entries: readonly DiaryEntry[];
    readonly uses: readonly DiaryUse[];
  },
  end: number,
  tick: number,
): string {
  let plan = first;
  let next = first;
  let baseOf = first;
  let isPaused = false;
  let isOver = false;
  let anchor = trialEnd;
  let number = 0;
  let period = { start, end: trialEnd };
  let seats = new Big(0);
  let owed = new Big(0);
  let used = new Map<DiaryPlan, Big>();
  let seatsUnder = new Map<DiaryPlan, Big>();

  const close = () => {
    for (const [under, quantity] of used) owed = owed.plus(priceOfCalls(under, quantity));
    for (const [under, held] of seatsUnder)
      if (held.gt(0)) owed = owed.plus(halfAway(held.times(under.seat)));
    used = new Map();
    seatsUnder = new Map();
  };
  const restart = (at: number) => {
    close();
    plan = next;
    anchor = at;
    number = 0;
    period = { start: at, end: later(at, plan.months) };
    baseOf = plan;
  };

  for (let now = start; now < end && !isOver; now += tick) {
    const inTrial = now < trialEnd;
    if (now === trialEnd) restart(now);
    else if (!inTrial && !isPaused && now >= period.end) {
      if (next.months === plan.months) {
        close();
        plan = next;
        number += 1;
        period = {
          start: later(anchor, number * plan.months),
          end: later(anchor, (number + 1) * plan.months),
        };
        baseOf = plan;
      } else restart(now);
    }
    for (const entry of entries.filter(({ at }) => at === now)) {
      if (entry.what === 'cancel') isOver = true;
      else if (entry.what === 'pause') isPaused = true;
      else if (entry.what === 'resume') {
        isPaused = false;
        if (now >= period.end) restart(now);
      } else if (entry.what === 'revise') next = entry.plan;
      else {
        const isOtherLength = entry.plan.months !== plan.months;
        next = entry.plan;
        if (!inTrial && isOtherLength) restart(now);
        plan = next;
        if (entry.prorate || plan.base > baseOf.base) baseOf = plan;
      }
    }
    if (isOver) break;
    for (const { feature, quantity } of uses.filter(({ at }) => at === now)) {
      if (isPaused) throw new Error('nothing is counted in a pause');
      if (feature === 'seats') seats = seats.plus(quantity);
      else if (!inTrial) used.set(plan, (used.get(plan) ?? new Big(0)).plus(quantity));
    }
    if (inTrial || isPaused) continue;
    seatsUnder.set(plan, seats);
    const until = (at: number) =>
      halfAway(new Big(baseOf.base).times(at - period.start).div(period.end - period.start));
    owed = owed.plus(until(now + tick)).minus(until(now));
  }
  close();
  return owed.toFixed();
}
