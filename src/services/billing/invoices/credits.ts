import { Big } from 'big.js';
import { minorUnits, sumOf } from '../money/money.ts';
import { apportioned } from './apportioning.ts';
import type { AppliedDiscount } from './discounts.ts';
import type { Line } from './lines.ts';
import type { Owed } from './owed.ts';
import { nameOf } from './settlement.ts';
import type { AppliedTax } from './taxes.ts';

/** What an invoice gives back of an earlier one. All amounts are above 0. */
export interface Return {
  readonly invoiceId: string;
  /** What it gives back of each group, by name, before discounts and taxes. */
  readonly groups: readonly { readonly group: string; readonly amount: bigint }[];
  /** The sum of the groups. */
  readonly amount: bigint;
  /** What it would give back if a refund had not returned it already, before discounts and taxes. */
  readonly withheld: bigint;
  readonly discounts: readonly AppliedDiscount[];
  readonly taxes: readonly AppliedTax[];
  /** The amount without its discounts, with its taxes. */
  readonly total: bigint;
}

/** A final invoice that has charged something. */
export interface ChargedInvoice {
  readonly id: string;
  readonly subtotal: bigint;
  readonly total: bigint;
  readonly discounts: readonly AppliedDiscount[];
  readonly taxes: readonly AppliedTax[];
  /** What refunds of its payments have returned, except what they have taken from credit. */
  readonly refunded: bigint;
  /** Whether it gives back itself what others have charged, so that its lines charge more than its subtotal. */
  readonly isMixed: boolean;
  /** What later invoices have given back of it. */
  readonly returns: readonly Return[];
}

/** What a final invoice has charged for a group, or, below 0, has given back of it. */
export interface Charged {
  readonly invoice: ChargedInvoice;
  /** The sum of the lines of the group, in minor units. */
  readonly amount: bigint;
}

/** By the names of their groups, oldest first. Invoices that are voided have charged nothing. */
export type ChargedGroups = ReadonlyMap<string, readonly Charged[]>;

/** What a credit takes back besides its lines, each amount below 0. */
export interface Returned {
  readonly discounts: readonly AppliedDiscount[];
  readonly taxes: readonly AppliedTax[];
}

/** The lines of an invoice, and what they give back. */
export interface Credits {
  readonly lines: readonly Line[];
  readonly returns: readonly Return[];
  readonly returned: Returned;
}

/**
 * The lines of an invoice, in which none gives back more than was charged and is still kept: charges that were written off with their
 * invoice were settled, but nobody has to pay them, and what was refunded is not returned once more as credit.
 */
export function creditsOf(lines: readonly Line[], owed: readonly Owed[], charged: ChargedGroups): Credits {
  const owes = new Map(owed.map(({ key, amount }) => [nameOf(key), amount]));
  const ledger = new Ledger();
  const creditable = lines.flatMap((line) => {
    if (line.amount >= 0n) return [line];
    const group = nameOf(line.key);
    const credit = ledger.giveBack(group, -line.amount, owes.get(group) ?? 0n, charged.get(group) ?? []);
    if (credit === -line.amount) return [line];
    return credit > 0n ? [{ ...line, amount: -credit, unit: new Big((-credit).toString()) }] : [];
  });
  const returns = ledger.returns();
  return { lines: creditable, returns, returned: returnedBy(creditable, returns) };
}

/** Distributes credits over the invoices that have charged what they give back. */
class Ledger {
  readonly #entries = new Map<string, Entry>();

  /** Gives back a difference of a group as far as it was charged and not returned, and tells how much that is. */
  giveBack(group: string, difference: bigint, owes: bigint, charged: readonly Charged[]): bigint {
    const kept = sumOf(charged.map(({ amount }) => amount)) - owes;
    const credit = kept < difference ? kept : difference;
    if (credit <= 0n) return 0n;
    const charges = charged.filter(({ amount }) => amount > 0n);
    const shares = apportioned(credit, remainders(group, charges, kept + owes));
    const taken = charges.map(({ invoice }, index) => {
      const entry = this.#entry(invoice);
      return { entry, ...entry.take(shares[index] ?? 0n) };
    });
    const given = sumOf(taken.map((one) => one.given));
    // A difference of which nothing is given is not settled, and is looked at again with the next invoice.
    if (given > 0n) for (const { entry, ...one } of taken) entry.note(group, one);
    return given;
  }

  returns(): Return[] {
    return [...this.#entries.values()]
      .map((entry) => entry.toReturn())
      .filter(({ amount, withheld }) => amount > 0n || withheld > 0n);
  }

  #entry(invoice: ChargedInvoice): Entry {
    const entry = this.#entries.get(invoice.id) ?? new Entry(invoice);
    this.#entries.set(invoice.id, entry);
    return entry;
  }
}

/** What each charge of a group has left, when all together have an amount left. */
function remainders(group: string, charges: readonly Charged[], left: bigint): bigint[] {
  const rests = charges.map(({ invoice, amount }) => {
    const given = invoice.returns.flatMap(({ groups }) => groups).filter((one) => one.group === group);
    return amount - sumOf(given.map((one) => one.amount));
  });
  // Credits of former versions do not say whose charges they gave back: those of the oldest.
  let unnamed = sumOf(rests) - left;
  return rests.map((rest) => {
    const taken = unnamed < rest ? unnamed : rest;
    if (taken <= 0n) return rest;
    unnamed -= taken;
    return rest - taken;
  });
}

interface Taken {
  readonly given: bigint;
  readonly withheld: bigint;
}

/** What is given back of one invoice. */
class Entry {
  readonly #invoice: ChargedInvoice;
  readonly #groups = new Map<string, bigint>();
  #withheld = 0n;
  #held: bigint;

  constructor(invoice: ChargedInvoice) {
    this.#invoice = invoice;
    this.#held = refundedLines(invoice) - sumOf(invoice.returns.map(({ withheld }) => withheld));
  }

  /** Parts an amount into what is given back and what was refunded already. */
  take(amount: bigint): Taken {
    const withheld = this.#held <= 0n ? 0n : amount < this.#held ? amount : this.#held;
    this.#held -= withheld;
    return { given: amount - withheld, withheld };
  }

  note(group: string, { given, withheld }: Taken): void {
    this.#withheld += withheld;
    if (given > 0n) this.#groups.set(group, (this.#groups.get(group) ?? 0n) + given);
  }

  /** The parts are rounded as all that was ever given back together, so that no number of credits adds up to more than was charged. */
  toReturn(): Return {
    const { id: invoiceId, subtotal, returns } = this.#invoice;
    const amount = sumOf(this.#groups.values());
    const before = sumOf(returns.map((one) => one.amount));
    const part = (of: bigint, earlier: bigint): bigint =>
      subtotal === 0n ? 0n : proportion(of, before + amount, subtotal) - earlier;
    const discounts = this.#invoice.discounts.map((one) => {
      const earlier = returns.flatMap((other) => other.discounts).filter((other) => isSameCoupon(one, other));
      return { ...one, amount: part(one.amount, sumOf(earlier.map((other) => other.amount))) };
    });
    const taxes = this.#invoice.taxes.map((one) => {
      const earlier = returns.flatMap((other) => other.taxes).filter((other) => isSameRate(one, other));
      return {
        ...one,
        taxableAmount: part(one.taxableAmount, sumOf(earlier.map((other) => other.taxableAmount))),
        amount: part(one.amount, sumOf(earlier.map((other) => other.amount))),
      };
    });
    const whole = amount - amounts(discounts) + amounts(taxes);
    const excess = this.#excessOf(whole);
    const [first, ...rest] = taxes;
    const isCut = first !== undefined && excess > 0n && excess <= first.amount;
    return {
      ...{ invoiceId, amount, withheld: this.#withheld, discounts },
      groups: [...this.#groups].map(([group, given]) => ({ group, amount: given })),
      taxes: isCut ? [{ ...first, amount: first.amount - excess }, ...rest] : taxes,
      total: isCut ? whole - excess : whole,
    };
  }

  /** What would be returned beyond the total: a refund and credits are each rounded. */
  #excessOf(whole: bigint): bigint {
    const { isMixed, total, refunded, returns } = this.#invoice;
    return isMixed ? 0n : sumOf(returns.map((one) => one.total)) + refunded + whole - total;
  }
}

/** What of the lines of an invoice refunds have returned. */
const refundedLines = ({ refunded, subtotal, total }: ChargedInvoice): bigint =>
  refunded <= 0n || total <= 0n ? 0n : refunded >= total ? subtotal : proportion(subtotal, refunded, total);

const proportion = (of: bigint, part: bigint, whole: bigint): bigint =>
  minorUnits(new Big((of * part).toString()).div(whole.toString()));

const amounts = (parts: readonly { readonly amount: bigint }[]): bigint =>
  sumOf(parts.map(({ amount }) => amount));

const isSameCoupon = (one: AppliedDiscount, other: AppliedDiscount) => one.couponId === other.couponId;
const isSameRate = (one: AppliedTax, other: AppliedTax) => one.taxRateId === other.taxRateId;

/**
 * What the charges that an invoice gives back were discounted and taxed by, in proportion. A credit at other discounts or rates than the
 * charge would pay out what was never paid. An invoice that gives nothing back as a whole returns nothing.
 */
function returnedBy(lines: readonly Line[], returns: readonly Return[]): Returned {
  const subtotal = amounts(lines);
  if (subtotal >= 0n) return { discounts: [], taxes: [] };
  // Charges beside the credits are set off against all of them alike.
  const gross = amounts(lines.filter(({ amount }) => amount < 0n));
  const share = (amount: bigint): bigint => proportion(amount, subtotal, gross);
  let left = -subtotal;
  const discounts = summed(
    returns.flatMap((one) => one.discounts),
    ({ couponId }) => couponId,
  ).flatMap((all) => {
    const back = share(amounts(all));
    const amount = back < left ? back : left;
    left -= amount;
    return amount > 0n ? [{ ...all[0]!, amount: -amount }] : [];
  });
  const taxes = summed(
    returns.flatMap((one) => one.taxes),
    ({ taxRateId }) => taxRateId,
  ).flatMap((all) => {
    const [taxableAmount, amount] = [share(sumOf(all.map((one) => one.taxableAmount))), share(amounts(all))];
    return amount > 0n ? [{ ...all[0]!, taxableAmount: -taxableAmount, amount: -amount }] : [];
  });
  return { discounts, taxes };
}

const summed = <One>(all: readonly One[], keyOf: (one: One) => string): One[][] => [
  ...Map.groupBy(all, keyOf).values(),
];
