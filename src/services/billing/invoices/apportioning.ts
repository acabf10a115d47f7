import { sumOf } from '../money/money.ts';

/** Parts of an amount in proportion to weights, of which none is above its weight; the largest remainders are rounded up. */
export function apportioned(amount: bigint, weights: readonly bigint[]): bigint[] {
  const all = sumOf(weights);
  if (all <= 0n) return weights.map(() => 0n);
  const parts = weights.map((weight) => (weight * amount) / all);
  const byRemainder = weights
    .map((weight, index) => ({ index, remainder: (weight * amount) % all }))
    .sort((one, other) => (one.remainder < other.remainder ? 1 : one.remainder > other.remainder ? -1 : 0));
  const missing = Number(amount - sumOf(parts));
  for (const { index } of byRemainder.slice(0, missing)) parts[index]! += 1n;
  return parts;
}
