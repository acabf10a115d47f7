import { Big } from 'big.js';
import type { LineItemType } from '../../../../generated/billing/types.ts';
import { dayText, type Stretch } from '../periods/calendar.ts';
import type { Charge } from '../pricing/rating.ts';
import type { GroupKey, Owed, OwedCharge } from './owed.ts';

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
  const { type, key, charges } = owed;
  return charges.map((charge) => {
    const { amount, stretch: period = owed.stretch } = charge;
    const about = { type, amount, period, key };
    if (isProrated(charge)) {
      const description = `${owed.name}${unitsText(charge)}, ${daysText(period)}`;
      return { ...about, description, quantity: new Big(1), unit: new Big(amount.toString()), flat: 0n };
    }
    const isAlone = charges.length === 1 && charge.after.eq(0);
    const description = type === 'base' ? baseText(owed) : `${owed.name}${isAlone ? '' : unitsText(charge)}`;
    return { ...about, description, quantity: charge.quantity, unit: charge.unit, flat: charge.flat };
  });
}

const isProrated = (charge: OwedCharge): boolean => 'isProrated' in charge && charge.isProrated;

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

/** Which units of a feature a line is for. */
function unitsText({ after, quantity }: Pick<Charge, 'after' | 'quantity'>): string {
  const last = after.plus(quantity);
  // Of a unit that is used in part, nobody could say which is the first or the last.
  if (!isWhole(last) || !isWhole(after)) return ` (beyond ${grouped(after)})`;
  return ` (${grouped(after.plus(1))} – ${grouped(last)})`;
}

const isWhole = (count: Big): boolean => count.round().eq(count);

const grouping = new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 });

/** A text is formatted exactly, whereas a number could lose its last digits. */
const grouped = (count: Big): string => grouping.format(count.toFixed() as Intl.StringNumericLiteral);
