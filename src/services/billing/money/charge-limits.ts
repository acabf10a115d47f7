import { moneyText, mostMinorUnits } from './money.ts';

/** Which amounts of a currency whoever moves the money takes at once, in minor units. */
export interface ChargeLimits {
  /** Every amount is a multiple of this. */
  readonly step: bigint;
  readonly least: bigint;
  readonly most: bigint;
}

/** By currency. */
export type ChargeLimitsOf = (currency: string) => ChargeLimits;

/** For those who take whatever can be written down. */
export const noLimits: ChargeLimitsOf = () => ({ step: 1n, least: 1n, most: mostMinorUnits });

/** Why a price can never be charged as it is, or undefined. Smaller and larger ones add up, or are charged in parts. */
export const priceFault = (amount: bigint, { step }: ChargeLimits): string | undefined =>
  amount % step === 0n
    ? undefined
    : `must be a multiple of ${step}, because the payment provider takes no smaller unit`;

/** Why a part of what is due cannot be charged, or undefined. */
export function chargeFault(
  amount: bigint,
  due: bigint,
  limits: ChargeLimits,
  currency: string,
): string | undefined {
  const { least, most } = limits;
  const shown = (bound: bigint, addition = '') =>
    `${moneyText(bound, currency)}${addition}, as the payment provider takes it`;
  if (amount < least) return `must be at least ${shown(least)}`;
  if (amount > most) return `must be at most ${shown(most, ' at once')}`;
  const fault = priceFault(amount, limits);
  if (fault !== undefined) return fault;
  const rest = due - amount;
  return rest > 0n && rest < least ? `must leave nothing, or at least ${shown(least)}` : undefined;
}

/** The largest part of what is due that can be charged, at once or in parts. The rest has to wait until there is more. */
export function collectable(due: bigint, { step, least }: ChargeLimits): bigint {
  const whole = due - (due % step);
  return whole < least ? 0n : whole;
}

/** What to charge first of an amount that can be charged: all of it, or so much that the rest can be charged, too. */
export function firstCharge(amount: bigint, { step, least, most }: ChargeLimits): bigint {
  if (amount <= most) return amount;
  const largest = most - (most % step);
  const rest = amount - largest;
  return rest >= least ? largest : largest - (least - rest);
}
