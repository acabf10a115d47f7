import { Big } from 'big.js';
import type { LineItemType } from '../../../../generated/billing/types.ts';
import { dayText, type Stretch } from '../periods/calendar.ts';
import type { Charge } from '../pricing/rating.ts';
import type { GroupKey, Owed } from './owed.ts';

/** A line of an invoice: its quantity times its unit price, rounded, plus its flat amount is its amount. */
export interface Line {
  readonly type: LineItemType;
  readonly description: string;
  readonly quantity: Big;
  /** Minor units per unit, exact. */
  readonly unit: Big;
  /** Minor units. */
  readonly flat: bigint;
  /** Minor units; negative for a credit. */
  readonly amount: bigint;
  readonly period: Stretch;
  /** What the line settles, wholly or in part. */
  readonly key: GroupKey;
}

/** The lines of a group that was never billed. */
export function chargeLines(owed: Owed): Line[] {
  const { type, key, stretch: period, charges } = owed;
  return charges.map(({ quantity, unit, flat, amount, ...charge }) => ({
    type,
    description:
      type === 'base' ? baseText(owed) : `${owed.name}${unitsText({ quantity, ...charge }, charges.length)}`,
    quantity,
    unit,
    flat,
    amount,
    period,
    key,
  }));
}

/** The one line of a group that was billed before and owes another amount now. */
export function differenceLine(owed: Owed, amount: bigint, type: LineItemType): Line {
  const { name, key, stretch } = owed;
  return {
    type,
    description: `${name} (${daysText(stretch)}), ${type === 'adjustment' ? 'adjustment' : 'difference'}`,
    quantity: new Big(1),
    unit: new Big(amount.toString()),
    flat: 0n,
    amount,
    period: stretch,
    key,
  };
}

const baseText = ({ name, stretch, isWhole }: Owed): string =>
  isWhole ? name : `${name} (${daysText(stretch)})`;

const daysText = ({ start, end }: Stretch): string => `${dayText(start)} – ${dayText(end)}`;

/** Which units of a feature a line is for, where there are several lines. */
function unitsText({ after, quantity }: Pick<Charge, 'after' | 'quantity'>, lines: number): string {
  if (lines === 1 && after.eq(0)) return '';
  const last = after.plus(quantity);
  // Of a unit that is used in part, nobody could say which is the last.
  if (!last.round().eq(last)) return ` (beyond ${grouped(after)})`;
  return ` (${grouped(after.plus(1))} – ${grouped(last)})`;
}

const grouping = new Intl.NumberFormat('en-US');

const grouped = (whole: Big): string => grouping.format(BigInt(whole.toFixed()));
