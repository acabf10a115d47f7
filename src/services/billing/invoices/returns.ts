import type { Return } from './credits.ts';
import type { AppliedDiscount } from './discounts.ts';
import type { StoredDiscount, StoredReturn, StoredTax } from './invoices.store.ts';
import type { AppliedTax } from './taxes.ts';

/** Discounts, taxes and returns as they are stored, and as they are computed with. */

export const discountOf = ({ coupon_id: couponId, code, amount }: StoredDiscount): AppliedDiscount => ({
  couponId,
  code,
  amount: BigInt(amount),
});

export const storedDiscount = ({ couponId, code, amount }: AppliedDiscount): StoredDiscount => ({
  coupon_id: couponId,
  code,
  amount: Number(amount),
});

export const taxOf = ({
  tax_rate_id: taxRateId,
  name,
  rate,
  taxable_amount,
  amount,
}: StoredTax): AppliedTax => ({
  ...{ taxRateId, name, rate },
  ...{ taxableAmount: BigInt(taxable_amount), amount: BigInt(amount) },
});

export const storedTax = ({ taxRateId, name, rate, taxableAmount, amount }: AppliedTax): StoredTax => ({
  ...{ tax_rate_id: taxRateId, name, rate },
  ...{ taxable_amount: Number(taxableAmount), amount: Number(amount) },
});

export const returnOf = ({ invoice_id, groups, discounts, taxes, ...amounts }: StoredReturn): Return => ({
  invoiceId: invoice_id,
  groups: groups.map(({ group, amount }) => ({ group, amount: BigInt(amount) })),
  amount: BigInt(amounts.amount),
  withheld: BigInt(amounts.withheld),
  discounts: discounts.map(discountOf),
  taxes: taxes.map(taxOf),
  total: BigInt(amounts.total),
});

export const storedReturn = ({ invoiceId, groups, discounts, taxes, ...amounts }: Return): StoredReturn => ({
  invoice_id: invoiceId,
  groups: groups.map(({ group, amount }) => ({ group, amount: Number(amount) })),
  amount: Number(amounts.amount),
  withheld: Number(amounts.withheld),
  discounts: discounts.map(storedDiscount),
  taxes: taxes.map(storedTax),
  total: Number(amounts.total),
});
