import type { ChargeLimits } from '../money/charge-limits.ts';
import { currencyFacts } from '../money/currencies.ts';

/** Currencies whose amounts the card provider takes without decimals. */
const whole = of('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf');
/** Currencies without decimals whose amounts it takes with two nevertheless, which must be 00. */
const wholeInHundredths = of('isk ugx');
/** Currencies with three decimals, of which the last must be 0. */
const thousandths = of('bhd iqd jod kwd lyd omr tnd');

function of(codes: string): ReadonlySet<string> {
  return new Set(codes.split(' '));
}

/**
 * The least amounts in the units of the provider. They are those of payouts in the same currency; for others, only the provider knows what
 * its least amount is worth, and says so when it is asked.
 */
const least: Readonly<Record<string, bigint>> = {
  ...{ aed: 200n, aud: 50n, bgn: 100n, brl: 50n, cad: 50n, chf: 50n, czk: 1_500n, dkk: 250n, eur: 50n },
  ...{ gbp: 30n, hkd: 400n, huf: 17_500n, inr: 50n, jpy: 50n, mxn: 1_000n, myr: 200n, nok: 300n, nzd: 50n },
  ...{ pln: 200n, ron: 200n, sek: 300n, sgd: 50n, thb: 1_000n, usd: 50n },
};

/** An amount has at most eight digits, or twelve. */
const most = 99_999_999n;
const mostOf: Readonly<Record<string, bigint>> = { idr: 999_999_999_999n };

/** How many decimals the provider's amounts of a currency have, and what they are a multiple of. */
function unitsOf(currency: string): { readonly digits: number; readonly step: bigint } {
  if (whole.has(currency)) return { digits: 0, step: 1n };
  if (wholeInHundredths.has(currency)) return { digits: 2, step: 100n };
  if (thousandths.has(currency)) return { digits: 3, step: 10n };
  return { digits: 2, step: 1n };
}

/** A power of ten by which amounts of ours are multiplied or divided to be the provider's. */
function ratioOf(currency: string): { readonly times: bigint; readonly by: bigint } {
  const more = unitsOf(currency).digits - currencyFacts(currency).digits;
  return { times: 10n ** BigInt(Math.max(more, 0)), by: 10n ** BigInt(Math.max(-more, 0)) };
}

/** The provider takes no such amount, so that nothing happened. */
export class NotChargeable extends Error {
  override readonly name = 'NotChargeable';
}

/** An amount of minor units as the provider takes it. @throws NotChargeable */
export function cardUnits(amount: bigint, currency: string): number {
  const { times, by } = ratioOf(currency);
  const units = (amount * times) / by;
  if ((amount * times) % by !== 0n || units % unitsOf(currency).step !== 0n)
    throw new NotChargeable(`the card provider takes no ${amount} minor units of ${currency}`);
  return Number(units);
}

/** What an amount of the provider is in minor units; what is less than one is left out. */
export function minorUnitsOf(units: bigint, currency: string): bigint {
  const { times, by } = ratioOf(currency);
  return (units * by) / times;
}

/** Which amounts the provider takes at once, in minor units. */
export function cardLimits(currency: string): ChargeLimits {
  const { times, by } = ratioOf(currency);
  const up = (units: bigint) => (units * by + times - 1n) / times;
  const step = up(unitsOf(currency).step);
  return {
    step,
    least: up(least[currency] ?? unitsOf(currency).step),
    most: minorUnitsOf(mostOf[currency] ?? most, currency),
  };
}
