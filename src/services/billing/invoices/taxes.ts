import type { BillingAddress, TaxRate } from '../../../../generated/billing/types.ts';
import { percentOf } from '../money/money.ts';

/** The tax of an invoice. */
export interface AppliedTax {
  readonly taxRateId: string;
  readonly name: string;
  /** Percent. */
  readonly rate: string;
  /** Minor units: negative for a credit, whose tax is given back. */
  readonly taxableAmount: bigint;
  readonly amount: bigint;
}

type Region = Pick<BillingAddress, 'country' | 'state'>;
type Rate = Pick<TaxRate, 'id' | 'country' | 'state' | 'name' | 'rate'>;

/** Names of countries and states are compared without regard to case, and to spaces around them. */
const isSame = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && one.trim().toLowerCase() === other.trim().toLowerCase();

/** The rate of the customer's state, otherwise that of the country, otherwise none. */
export function taxRateFor<R extends Rate>(rates: readonly R[], region: Region | null): R | undefined {
  if (region === null) return undefined;
  const national = rates.filter(({ country }) => isSame(country, region.country));
  return (
    national.find(({ state }) => isSame(state, region.state)) ?? national.find(({ state }) => state === null)
  );
}

export const taxesOf = (taxableAmount: bigint, rate: Rate | undefined): AppliedTax[] =>
  rate === undefined
    ? []
    : [
        {
          taxRateId: rate.id,
          name: rate.name,
          rate: rate.rate,
          taxableAmount,
          amount: percentOf(taxableAmount, rate.rate),
        },
      ];
