import { Big } from 'big.js';
import type { Feature } from '../../../../generated/billing/types.ts';
import { sumOf } from '../money/money.ts';
import type { Stretch } from '../periods/calendar.ts';
import type { Revision, Segment } from '../periods/segments.ts';
import { proratedBase } from '../pricing/proration.ts';
import { chargesOf, priceOf, type Charge, type Tier } from '../pricing/rating.ts';

/** What invoices need to know of the revision of a plan. */
export interface PricedPlan extends Revision {
  readonly name: string;
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
  readonly charges: readonly Charge[];
  /** The sum of the charges, in minor units. */
  readonly amount: bigint;
}

export interface Account {
  /** Ascending, of all kinds. */
  readonly segments: readonly Segment[];
  readonly tallies: readonly Tally[];
  /** Seats held before the first of the segments, by feature key. */
  readonly seatsBefore: ReadonlyMap<string, Big>;
  /** The revisions of the segments and of their base prices. */
  readonly planOf: (revision: Revision) => PricedPlan;
}

const none = new Big(0);

/**
 * What a subscription owes for each group of the periods that have begun, by period, the base price of a plan before its features.
 * Each segment and each tally is looked at once, however often the plan changed.
 */
export function owedBy(account: Account, now: number): Owed[] {
  const groups = groupsOf(account, now);
  return groups.flatMap(({ key, plan, based, used, uses, isOver }) => {
    const base = based.length === 0 ? [] : [owedBase(plan, key, based, isOver)];
    if (used.length === 0) return base;
    const priced = plan.features.filter((feature) => plan.tiers.has(feature.key));
    return [
      ...base,
      ...priced.map(({ key: featureKey, name, type }): Owed => {
        const charges = chargesOf(plan.tiers.get(featureKey)!, uses.get(featureKey) ?? none);
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

interface Group {
  readonly key: Omit<GroupKey, 'featureKey'>;
  readonly plan: PricedPlan;
  readonly metered: ReadonlySet<string>;
  readonly seats: readonly string[];
  readonly isOver: boolean;
  /** The paid segments whose base price comes from the revision. */
  readonly based: Segment[];
  /** The paid segments in which the revision prices the use. */
  readonly used: Segment[];
  /** By feature key: the sum of what was used or, for seats, those that are held at the end of the last segment. */
  readonly uses: Map<string, Big>;
}

function groupsOf({ segments, tallies, seatsBefore, planOf }: Account, now: number): Group[] {
  const begun = segments.filter(({ period }) => period.start <= now);
  const ends = new Map(begun.map(({ period, end }) => [period.start, end]));
  const tallied = Map.groupBy(tallies, ({ segmentStart }) => segmentStart);
  const held = new Map(seatsBefore);
  const groups = new Map<string, Group>();
  const groupOf = (periodStart: number, { planId, revision }: Revision): Group => {
    const name = JSON.stringify([periodStart, planId, revision]);
    let group = groups.get(name);
    if (group === undefined) {
      const key = { periodStart, planId, revision };
      const isOver = ends.get(periodStart)! <= now;
      const plan = planOf(key);
      const kinds = { metered: new Set(pricedKeys(plan, false)), seats: pricedKeys(plan, true) };
      group = { key, plan, ...kinds, isOver, based: [], used: [], uses: new Map() };
      groups.set(name, group);
    }
    return group;
  };
  for (const segment of begun) {
    const counted = tallied.get(segment.start) ?? [];
    for (const { featureKey, quantity } of counted) add(held, featureKey, quantity);
    if (segment.kind !== 'paid') continue;
    groupOf(segment.period.start, segment.base).based.push(segment);
    const { metered, seats, used, uses } = groupOf(segment.period.start, segment.plan);
    used.push(segment);
    for (const { featureKey, quantity } of counted)
      if (metered.has(featureKey)) add(uses, featureKey, quantity);
    for (const featureKey of seats) uses.set(featureKey, held.get(featureKey) ?? none);
  }
  return [...groups.values()];
}

const pricedKeys = ({ features, tiers }: PricedPlan, isSeat: boolean): string[] =>
  features.filter(({ key, type }) => tiers.has(key) && (type === 'seat') === isSeat).map(({ key }) => key);

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
