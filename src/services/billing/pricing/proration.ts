import type { Stretch } from '../periods/calendar.ts';
import { roundedQuotient } from '../money/rounding.ts';

/**
 * What a part of a period owes of the period's base amount. However a period is split, its parts sum to the base amount exactly, because
 * each part owes the difference of two rounded points of one line.
 *
 * @param base minor units for the whole period
 * @param part lies within the period
 */
export function proratedBase(base: bigint, part: Stretch, period: Stretch): bigint {
  const length = BigInt(period.end - period.start);
  const owedUntil = (instant: number) => roundedQuotient(base * BigInt(instant - period.start), length);
  return owedUntil(part.end) - owedUntil(part.start);
}
