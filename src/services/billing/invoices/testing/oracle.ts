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

/** Calls in a row that are priced as one: counted on from those before in the same month or year. */
interface CallsInRow {
  readonly plan: DiaryPlan;
  readonly period: object;
  readonly window: string;
  readonly from: Big;
  to: Big;
}

/** The number of the month, or of the year, since an instant: found by trying. */
function countedFrom(anchor: number, months: number, at: number): number {
  let number = 0;
  while (later(anchor, number * months) > at) number -= 1;
  while (later(anchor, (number + 1) * months) <= at) number += 1;
  return number;
}

/** What all calls cost: those of a plan in a period pay together what its tiers ask for their places in the month or year. */
function priceOfCalls(rows: readonly CallsInRow[]): Big {
  const counted = rows.filter(({ from, to }) => !from.eq(to));
  const groups = new Map<string, CallsInRow[]>();
  const names = new Map<object, number>();
  const nameOf = (one: object) => names.get(one) ?? names.set(one, names.size).get(one)!;
  for (const row of counted) {
    const name = `${nameOf(row.plan)} ${nameOf(row.period)} ${row.window}`;
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  const earlier = new Map<string, { tiers: Set<number>; units: Big; paid: Big }>();
  let sum = new Big(0);
  for (const group of groups.values()) {
    const { plan, window } = group[0]!;
    const list = `${nameOf(plan)} ${window}`;
    const before = earlier.get(list) ?? { tiers: new Set<number>(), units: new Big(0), paid: new Big(0) };
    earlier.set(list, before);
    const price = priceOfGroup(plan, group, before);
    before.paid = before.paid.plus(price);
    sum = sum.plus(price);
  }
  return sum;
}

function priceOfGroup(
  { calls, callsType }: DiaryPlan,
  group: readonly CallsInRow[],
  before: { readonly tiers: Set<number>; units: Big; readonly paid: Big },
): Big {
  const tierOf = (unit: Big) => calls.findIndex(({ upTo }) => upTo === -1 || unit.lte(upTo));
  const sums = calls.map(() => new Big(0));
  for (const { from, to } of group)
    for (const [unit, part] of unitByUnit(from, to)) {
      const tier = tierOf(unit);
      sums[tier] = sums[tier]!.plus(part);
    }
  if (callsType === 'graduated')
    return sums.reduce((sum, units, tier) => {
      if (units.lte(0)) return sum;
      const isFirst = !before.tiers.has(tier);
      before.tiers.add(tier);
      return sum.plus(halfAway(units.times(calls[tier]!.unit))).plus(isFirst ? calls[tier]!.flat : 0);
    }, new Big(0));
  const units = sums.reduce((sum, some) => sum.plus(some), new Big(0));
  if (units.lte(0)) return new Big(0);
  const { unit, flat } = calls[tierOf(group.at(-1)!.to)]!;
  const [own, all] = [units, units.plus(before.units)].map((some) => halfAway(some.times(unit)));
  before.units = before.units.plus(units);
  const rest = all!.plus(flat).minus(before.paid).minus(own!);
  return rest.gt(0) ? own!.plus(rest) : own!;
}

/** The parts of whole units between two counts, negative when it is counted back. Nothing lies below 0. */
function* unitByUnit(from: Big, to: Big): Generator<[unit: Big, part: Big]> {
  const isBack = to.lt(from);
  const [low, high] = (isBack ? [to, from] : [from, to]).map((count) => (count.lt(0) ? new Big(0) : count));
  for (let unit = low!.round(0, Big.roundDown).plus(1); unit.minus(1).lt(high!); unit = unit.plus(1)) {
    const start = unit.minus(1).lt(low!) ? low! : unit.minus(1);
    const end = unit.gt(high!) ? high! : unit;
    yield [unit, isBack ? start.minus(end) : end.minus(start)];
  }
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
  // The months of the tenant begin with its first paid period, and go on whatever happens.
  const calls: CallsInRow[] = [];
  const counts = new Map<string, Big>();
  let seatsUnder = new Map<DiaryPlan, { held: Big; ticks: number[] }>();

  const close = () => {
    for (const [under, { held, ticks }] of seatsUnder) {
      const price = halfAway((held.gt(0) ? held : new Big(0)).times(under.seat));
      const until = (at: number) => halfAway(price.times(at - period.start).div(period.end - period.start));
      for (const at of ticks) owed = owed.plus(until(at + tick)).minus(until(at));
    }
    seatsUnder = new Map();
  };
  const call = (at: number, quantity: string) => {
    const windows = {
      1: `month ${countedFrom(trialEnd, 1, at)}`,
      12: `year ${countedFrom(trialEnd, 12, at)}`,
    };
    const window = windows[plan.months === 12 ? 12 : 1];
    const from = counts.get(window) ?? new Big(0);
    for (const one of Object.values(windows)) counts.set(one, (counts.get(one) ?? new Big(0)).plus(quantity));
    const last = calls.at(-1);
    if (last?.plan === plan && last.period === period && last.window === window)
      last.to = last.to.plus(quantity);
    else calls.push({ plan, period, window, from, to: from.plus(quantity) });
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
      else if (!inTrial) call(now, quantity);
    }
    if (inTrial || isPaused) continue;
    seatsUnder.set(plan, { held: seats, ticks: [...(seatsUnder.get(plan)?.ticks ?? []), now] });
    const until = (at: number) =>
      halfAway(new Big(baseOf.base).times(at - period.start).div(period.end - period.start));
    owed = owed.plus(until(now + tick)).minus(until(now));
  }
  close();
  return owed.plus(priceOfCalls(calls)).toFixed();
}
