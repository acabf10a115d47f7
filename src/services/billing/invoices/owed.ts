import { Big } from 'big.js';
import type { BillingPeriod, Feature } from '../../../../generated/billing/types.ts';
import { sumOf } from '../money/money.ts';
import type { Stretch } from '../periods/calendar.ts';
import type { Revision, Segment } from '../periods/segments.ts';
import { proratedBase } from '../pricing/proration.ts';
import { chargesOf, priceOf, type Charge, type Tier } from '../pricing/rating.ts';
import { chargesOfRun, type Use, type WindowCharges } from '../pricing/run.ts';
import { proratedSeats, type SeatCharge } from '../pricing/seats.ts';

/** What invoices need to know of the revision of a plan. */
export interface PricedPlan extends Revision {
  readonly name: string;
  readonly interval: BillingPeriod;
  readonly features: readonly Pick<Feature, 'key' | 'name' | 'type'>[];
  /** By feature key; features without tiers are free. */
  readonly tiers: ReadonlyMap<string, readonly Tier[]>;
}

/** The sum of the events of a feature in a segment. */
export interface Tally {
  readonly segmentStart: number;
  readonly featureKey: string;
  readonly quantity: Big;
}

/** What the tenant used under another subscription, or before the account begins. */
export interface OtherUse
  extends Pick<Segment, 'start' | 'end' | 'plan' | 'yearStart'>, Pick<Tally, 'featureKey' | 'quantity'> {
  readonly subscriptionId: string;
  readonly periodStart: number;
  readonly windowStart: number;
}

/** What is settled as one: the base price, or the use of one feature, of one period under one revision of a plan. */
export interface GroupKey extends Revision {
  readonly periodStart: number;
  /** Null for the base price. */
  readonly featureKey: string | null;
}

/** What a subscription owes for a group, whatever was billed before. */
export interface Owed {
  readonly key: GroupKey;
  readonly type: 'base' | 'usage' | 'seat';
  /** The name of the plan or of the feature. */
  readonly name: string;
  /** From the start of the first segment of the group to the end of its last. */
  readonly stretch: Stretch;
  /** Whether the stretch is the whole period. */
  readonly isWhole: boolean;
  /** Whether nothing more can happen in the period: it has ended, or the subscription has left it. */
  readonly isOver: boolean;
  readonly charges: readonly OwedCharge[];
  /** The sum of the charges, in minor units. */
  readonly amount: bigint;
}

/** A charge; of seats, possibly for a part of the period, and of use in several months, for one of them. */
export type OwedCharge = (Charge | SeatCharge) & { readonly stretch?: Stretch };

export interface Account {
  /** Ascending, of all kinds. */
  readonly segments: readonly Segment[];
  readonly tallies: readonly Tally[];
  /** What else counts in the months and years of the segments. */
  readonly others: readonly OtherUse[];
  /** Seats that the tenant held before the first of the segments, by feature key. */
  readonly seatsBefore: ReadonlyMap<string, Big>;
  /** The revisions of the segments, of their base prices and of the other use. */
  readonly planOf: (revision: Revision) => PricedPlan;
}

const none = new Big(0);

/**
 * What a subscription owes for each group of the periods that have begun, by period, the base price of a plan before its features.
 * Each segment and each tally is looked at once, however often the plan changed.
 */
export function owedBy(account: Account, now: number): Owed[] {
  const groups = groupsOf(account, now);
  const runs = runsOf(account, groups);
  return groups.flatMap(({ name: group, key, plan, based, used, seats, isOver }) => {
    const base = based.length === 0 ? [] : [owedBase(plan, key, based, isOver)];
    if (used.length === 0) return base;
    const priced = plan.features.filter((feature) => plan.tiers.has(feature.key));
    return [
      ...base,
      ...priced.map(({ key: featureKey, name, type }): Owed => {
        const charges =
          type === 'seat'
            ? proratedSeats(chargesOf(plan.tiers.get(featureKey)!, seats.get(featureKey) ?? none), used)
            : chargesIn(runs.get(featureKey)?.get(group) ?? []);
        return {
          key: { ...key, featureKey },
          type: type === 'seat' ? 'seat' : 'usage',
          name,
          ...extentOf(used),
          isOver,
          charges,
          amount: priceOf(charges),
        };
      }),
    ];
  });
}

/** Each charge of several months has its own dates. */
const chargesIn = (windows: readonly WindowCharges[]): OwedCharge[] =>
  windows.length === 1
    ? [...windows[0]!.charges]
    : windows.flatMap(({ stretch, charges }) => charges.map((charge) => ({ ...charge, stretch })));

interface Group {
  /** Unique among the groups of an account. */
  readonly name: string;
  readonly key: Omit<GroupKey, 'featureKey'>;
  readonly plan: PricedPlan;
  readonly isOver: boolean;
  /** The paid segments whose base price comes from the revision. */
  readonly based: Segment[];
  /** The paid segments in which the revision prices the use. */
  readonly used: Segment[];
  /** By feature key: the seats that are held at the end of the last segment. */
  readonly seats: Map<string, Big>;
}

function groupsOf({ segments, tallies, seatsBefore, planOf }: Account, now: number): Group[] {
  const begun = segments.filter(({ period }) => period.start <= now);
  const ends = new Map(begun.map(({ period, end }) => [period.start, end]));
  const tallied = Map.groupBy(tallies, ({ segmentStart }) => segmentStart);
  const held = new Map(seatsBefore);
  const groups = new Map<string, Group>();
  const groupOf = (periodStart: number, { planId, revision }: Revision): Group => {
    const name = groupName(periodStart, { planId, revision });
    let group = groups.get(name);
    if (group === undefined) {
      const key = { periodStart, planId, revision };
      const isOver = ends.get(periodStart)! <= now;
      const plan = planOf(key);
      group = { name, key, plan, isOver, based: [], used: [], seats: new Map() };
      groups.set(name, group);
    }
    return group;
  };
  for (const segment of begun) {
    const counted = tallied.get(segment.start) ?? [];
    for (const { featureKey, quantity } of counted) add(held, featureKey, quantity);
    if (segment.kind !== 'paid') continue;
    groupOf(segment.period.start, segment.base).based.push(segment);
    const { plan, seats, used } = groupOf(segment.period.start, segment.plan);
    used.push(segment);
    for (const { key, type } of plan.features)
      if (type === 'seat' && plan.tiers.has(key)) seats.set(key, held.get(key) ?? none);
  }
  return [...groups.values()];
}

const groupName = (periodStart: number, { planId, revision }: Revision): string =>
  JSON.stringify([periodStart, planId, revision]);

/** What each group owes for the use of each feature, by the names of the groups. */
function runsOf({ tallies, others, planOf }: Account, groups: readonly Group[]) {
  const segments = new Map(
    groups.flatMap(({ name, used }) => used.map((segment) => [segment.start, { name, segment }])),
  );
  const useOf = (
    featureKey: string,
    { planId, revision }: Revision,
    use: Omit<Use, 'prices' | 'tiers' | 'interval'>,
  ): Use => {
    const { interval, tiers } = planOf({ planId, revision });
    return { ...use, interval, prices: `${planId} ${revision}`, tiers: tiers.get(featureKey) ?? [] };
  };
  const uses = [
    ...tallies.flatMap(({ segmentStart, featureKey, quantity }) => {
      const own = segments.get(segmentStart);
      if (own === undefined) return [];
      const { start, end, plan, window, yearStart: year } = own.segment;
      const use = { start, end, group: own.name, month: window.start, year, quantity };
      return [{ featureKey, use: useOf(featureKey, plan, use) }];
    }),
    ...others.map(({ featureKey, plan, subscriptionId, periodStart, windowStart, yearStart, ...rest }) => {
      const group = `${subscriptionId} ${groupName(periodStart, plan)}`;
      const { start, end, quantity } = rest;
      const use = { start, end, group, month: windowStart, year: yearStart, quantity };
      return { featureKey, use: useOf(featureKey, plan, use) };
    }),
  ];
  const byFeature = Map.groupBy(uses, ({ featureKey }) => featureKey);
  return new Map(
    [...byFeature].map(([featureKey, all]) => [
      featureKey,
      chargesOfRun(all.map(({ use }) => use).sort((a, b) => a.start - b.start)),
    ]),
  );
}

const add = (sums: Map<string, Big>, key: string, quantity: Big) =>
  sums.set(key, (sums.get(key) ?? none).plus(quantity));

function owedBase(
  { name }: PricedPlan,
  key: Omit<GroupKey, 'featureKey'>,
  segments: readonly Segment[],
  isOver: boolean,
): Owed {
  const amount = sumOf(segments.map((one) => proratedBase(one.base.amount, one, one.period)));
  const unit = new Big(amount.toString());
  const charges = [{ after: none, quantity: new Big(1), unit, flat: 0n, amount }];
  return {
    key: { ...key, featureKey: null },
    type: 'base',
    name,
    ...extentOf(segments),
    isOver,
    charges,
    amount,
  };
}

function extentOf(segments: readonly Segment[]): Pick<Owed, 'stretch' | 'isWhole'> {
  const [first, last] = [segments[0]!, segments.at(-1)!];
  const isWhole = first.start === first.period.start && last.end === last.period.end;
  return { stretch: { start: first.start, end: last.end }, isWhole };
}
