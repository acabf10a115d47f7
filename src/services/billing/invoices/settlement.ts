import { chargeLines, differenceLine, type Line } from './lines.ts';
import type { GroupKey, Owed } from './owed.ts';

/** What final invoices have billed of a group. */
export interface Settlement {
  /** The sum of the lines, in minor units. */
  readonly amount: bigint;
  /** Whether the period was over when it was last settled. */
  readonly wasOver: boolean;
  /** The number of invoices with lines of the group. */
  readonly invoices: number;
}

/** By the names of their groups. */
export type Settlements = ReadonlyMap<string, Settlement>;

/** The name of a group in a map. */
export const nameOf = ({ periodStart, planId, revision, featureKey }: GroupKey): string =>
  JSON.stringify([periodStart, planId, revision, featureKey]);

/**
 * The lines of an invoice: what is owed minus what was settled.
 *
 * @param scope `ended` periods for an invoice that a renewal makes; `begun` ones, so that the running period counts as it stands, for
 *   one that somebody asks for
 */
export function unsettledLines(
  owed: readonly Owed[],
  settlements: Settlements,
  scope: 'ended' | 'begun',
): Line[] {
  return owed.flatMap((group) => {
    if (scope === 'ended' && !group.isOver) return [];
    const settled = settlements.get(nameOf(group.key));
    if (settled !== undefined) {
      const difference = group.amount - settled.amount;
      return difference === 0n
        ? []
        : [differenceLine(group, difference, settled.wasOver ? 'adjustment' : group.type)];
    }
    // A free plan can be invoiced while its period runs; afterwards, nothing is left to say about it.
    if (group.type === 'base' && group.amount === 0n && group.isOver) return [];
    return chargeLines(group);
  });
}

/** The settlements once an invoice with these lines is final. */
export function settled(
  settlements: Settlements,
  lines: readonly Line[],
  owed: readonly Owed[],
): Map<string, Settlement> {
  const billed = new Map(lines.map(({ key }) => [nameOf(key), key]));
  const after = new Map(settlements);
  for (const { key, amount, isOver } of owed) {
    const name = nameOf(key);
    if (!billed.has(name)) continue;
    after.set(name, { amount, wasOver: isOver, invoices: (settlements.get(name)?.invoices ?? 0) + 1 });
  }
  return after;
}

/** The settlements once the charges of a final invoice are owed again, as if it had never been. */
export function reopened(
  settlements: Settlements,
  lines: readonly Pick<Line, 'key' | 'amount'>[],
): Map<string, Settlement> {
  const deltas = new Map<string, bigint>();
  for (const { key, amount } of lines) deltas.set(nameOf(key), (deltas.get(nameOf(key)) ?? 0n) + amount);
  const after = new Map(settlements);
  for (const [name, delta] of deltas) {
    const before = settlements.get(name);
    if (before === undefined) continue;
    if (before.invoices === 1) after.delete(name);
    else after.set(name, { ...before, amount: before.amount - delta, invoices: before.invoices - 1 });
  }
  return after;
}
