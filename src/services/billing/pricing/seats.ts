import type { Segment } from '../periods/segments.ts';
import { proratedBase } from './proration.ts';
import type { Charge } from './rating.ts';
import { sumOf } from '../money/money.ts';

/** A charge for seats, whose amount is for a part of the period. */
export interface SeatCharge extends Charge {
  readonly isProrated: boolean;
}

/**
 * What seats cost for the segments of a period in which a plan prices them. As of the base price, each segment owes its part, so that the
 * same seats at the same price cost the same however often the plan changes.
 *
 * @param charges of the seats for a whole period
 */
export function proratedSeats(
  charges: readonly Charge[],
  segments: readonly Pick<Segment, 'start' | 'end' | 'period' | 'yearStart'>[],
): SeatCharge[] {
  const covered = segments.reduce((sum, { start, end }) => sum + end - start, 0);
  const { period } = segments[0]!;
  // Where the tenant has no months yet, seats are priced as they were then.
  const isWhole =
    covered === period.end - period.start || segments.some(({ yearStart }) => yearStart === null);
  return charges.map((charge) => ({
    ...charge,
    isProrated: !isWhole,
    amount: isWhole
      ? charge.amount
      : sumOf(segments.map((part) => proratedBase(charge.amount, part, part.period))),
  }));
}
