import { Big } from 'big.js';
import type { BillingPeriod } from '../../../../generated/billing/types.ts';
import type { Stretch } from '../periods/calendar.ts';
import {
  type Charge,
  chargesOfPart,
  nothingPaid,
  type Paid,
  priceOf,
  type Span,
  type Tier,
} from './rating.ts';

/** The use of a feature in a segment. */
export interface Use extends Stretch {
  /** What is charged as one. */
  readonly group: string;
  /** The name of the price list, and its tiers for the feature: empty when it does not price it. */
  readonly prices: string;
  readonly tiers: readonly Tier[];
  /** The tiers of a monthly plan run in the tenant's month, those of a yearly one in its year. */
  readonly interval: BillingPeriod;
  /** The start of the month and of the year; a year of null stands alone, as its group. */
  readonly month: number;
  readonly year: number | null;
  readonly quantity: Big;
}

/** The charges of a group for the units of a window. */
export interface WindowCharges {
  /** From the first use to the last. */
  readonly stretch: Stretch;
  readonly charges: readonly Charge[];
}

interface GroupPart {
  readonly window: string;
  readonly use: Use;
  readonly spans: Span[];
  end: number;
}

const none = new Big(0);

/**
 * What groups owe for the use of a feature. The units of a tenant are counted on in a window whatever its plans, periods and subscriptions
 * are: each unit costs what the plan of its time asks at its place in the tiers. So what is free in a window is free once.
 *
 * @param uses of one tenant, ascending
 */
export function chargesOfRun(uses: readonly Use[]): Map<string, WindowCharges[]> {
  const counts = new Map<string, Big>();
  const parts = new Map<string, GroupPart>();
  for (const use of uses) {
    const windows = windowsOf(use);
    const window = windows[use.interval];
    const after = counts.get(window) ?? none;
    for (const one of new Set(Object.values(windows)))
      counts.set(one, (counts.get(one) ?? none).plus(use.quantity));
    const name = JSON.stringify([use.group, window]);
    const part = parts.get(name) ?? { window, use, spans: [], end: use.end };
    parts.set(name, part);
    part.end = use.end;
    countOn(part.spans, after, after.plus(use.quantity));
  }
  return charged([...parts.values()]);
}

function windowsOf({ group, month, year }: Use): Record<BillingPeriod, string> {
  if (year === null) return { monthly: group, yearly: group };
  return { monthly: `month ${month}`, yearly: `year ${year}` };
}

/** Adds units to spans: they continue the last one if nobody else has used any since. */
function countOn(spans: Span[], after: Big, until: Big): void {
  const last = spans.at(-1);
  if (last?.until.eq(after) === true) spans[spans.length - 1] = { after: last.after, until };
  else spans.push({ after, until });
}

function charged(parts: readonly GroupPart[]): Map<string, WindowCharges[]> {
  const charges = new Map<string, WindowCharges[]>();
  const paid = new Map<string, Paid>();
  for (const { window, use, spans, end } of parts) {
    const list = JSON.stringify([use.prices, window]);
    const before = paid.get(list) ?? nothingPaid;
    const counted = spans.filter(({ after, until }) => !after.eq(until));
    const own = chargesOfPart(use.tiers, { spans: counted, paid: before });
    const billed = own.map(({ charge }) => charge);
    paid.set(list, {
      flats: new Set([...before.flats, ...own.map(({ tier }) => tier)]),
      units: before.units.plus(billed.reduce((sum, { quantity }) => sum.plus(quantity), none)),
      amount: before.amount + priceOf(billed),
    });
    const others = charges.get(use.group) ?? [];
    charges.set(use.group, [...others, { stretch: { start: use.start, end }, charges: billed }]);
  }
  return charges;
}
