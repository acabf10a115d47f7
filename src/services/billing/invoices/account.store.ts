import { Big } from 'big.js';
import type { BillingAddress, TaxId, TaxRate } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { Owner } from '../subscriptions/segments.store.ts';
import type { Billed } from './account.ts';
import type { Charged, ChargedGroups, ChargedInvoice } from './credits.ts';
import { discountOf, returnOf, taxOf } from './returns.ts';
import { type StoredUse, useOf } from '../coupons/coupons.store.ts';
import type { PeriodDiscount, RedeemedCoupon } from './discounts.ts';
import type { StoredDiscount, StoredReturn, StoredTax } from './invoices.store.ts';
import type { GroupKey, OtherUse, Tally } from './owed.ts';
import { nameOf } from './settlement.ts';

/** A draft: by its id, unless it is about to be made. */
export interface DraftKey {
  readonly id: string | null;
  /** Whether somebody asked for it. Those that nobody asked for do not wait for those, which may stay drafts for ever. */
  readonly isManual: boolean;
}

/** The customer that an invoice bills. */
export interface PayerRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly balance: number;
  readonly billing_address: BillingAddress | null;
  readonly tax_ids: TaxId[];
  readonly isErased: boolean;
}

interface RedemptionRow {
  readonly coupon_id: string;
  readonly code: string;
  readonly percentage: string | null;
  readonly amount: number | null;
  readonly duration: RedeemedCoupon['duration'];
  readonly duration_periods: number | null;
  readonly uses: readonly StoredUse[];
}

interface UseRow {
  readonly subscription_id: string;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly period_start: string;
  readonly window_start: string;
  readonly year_start: string | null;
  readonly plan_id: string;
  readonly revision: number;
  readonly feature_key: string;
  readonly quantity: string;
}

const otherUseOf = (row: UseRow): OtherUse => ({
  subscriptionId: row.subscription_id,
  start: Date.parse(row.starts_at),
  end: Date.parse(row.ends_at),
  periodStart: Date.parse(row.period_start),
  windowStart: Date.parse(row.window_start),
  yearStart: row.year_start === null ? null : Date.parse(row.year_start),
  plan: { planId: row.plan_id, revision: row.revision },
  featureKey: row.feature_key,
  quantity: new Big(row.quantity),
});

/** What lines say of a group. */
interface ShownRow {
  readonly group_period: string;
  readonly group_plan_id: string;
  readonly group_revision: number;
  readonly feature_key: string;
  readonly amount: string;
}

interface ChargedRow extends ShownRow {
  readonly id: string;
  readonly subtotal: number;
  readonly total: number;
  readonly discounts: readonly StoredDiscount[];
  readonly taxes: readonly StoredTax[];
  readonly refunded: string;
  readonly is_mixed: boolean;
}

const groupOf = (row: ShownRow): string =>
  nameOf({
    periodStart: Date.parse(row.group_period),
    planId: row.group_plan_id,
    revision: row.group_revision,
    featureKey: row.feature_key === '' ? null : row.feature_key,
  });

const chargedInvoiceOf = (row: ChargedRow, returns: readonly StoredReturn[]): ChargedInvoice => ({
  id: row.id,
  subtotal: BigInt(row.subtotal),
  total: BigInt(row.total),
  discounts: row.discounts.map(discountOf),
  taxes: row.taxes.map(taxOf),
  refunded: BigInt(row.refunded),
  isMixed: row.is_mixed,
  returns: returns.filter(({ invoice_id }) => invoice_id === row.id).map(returnOf),
});

/** The statements that read what an invoice depends on besides the segments of its subscription. */
export const accountStore = (sql: Sql) => ({
  /** The counters of some features in the segments from a time on. */
  async tallies({ tenant_id, id }: Owner, from: number, featureKeys: readonly string[]): Promise<Tally[]> {
    const rows = await sql<{ segment_start: string; feature_key: string; quantity: string }[]>`
      select segment_start, feature_key, quantity::text from billing.usage_total
      where tenant_id = ${tenant_id} and subscription_id = ${id} and segment_start >= ${new Date(from)}
        and feature_key = any(${[...featureKeys]}::text[])`;
    return rows.map(({ segment_start, feature_key, quantity }) => ({
      segmentStart: Date.parse(segment_start),
      featureKey: feature_key,
      quantity: new Big(quantity),
    }));
  },

  /** What the tenant used of some features in the paid segments of a stretch, without those of a subscription from a time on. */
  async otherUses(
    { tenant_id, app_id, id }: Owner,
    { since, from, until }: { readonly since: number; readonly from: number; readonly until: number },
    featureKeys: readonly string[],
  ): Promise<OtherUse[]> {
    const rows = await sql<UseRow[]>`
      select segment.subscription_id, starts_at, ends_at, period_start, segment.window_start, year_start, plan_id, revision, feature_key,
        quantity::text
      from billing.segment join billing.usage_total as total
        on total.tenant_id = segment.tenant_id and total.subscription_id = segment.subscription_id and segment_start = starts_at
      where segment.tenant_id = ${tenant_id} and app_id = ${app_id} and kind = 'paid'
        and starts_at >= ${new Date(since)} and starts_at < ${new Date(until)}
        and (segment.subscription_id <> ${id} or starts_at < ${new Date(from)})
        and feature_key = any(${[...featureKeys]}::text[])`;
    return rows.map(otherUseOf);
  },

  /** What was counted of some features before a time, over the tenant's subscriptions: seats that were taken then are still held. */
  async countedBefore(
    { tenant_id, app_id, counts_from }: Pick<Billed, 'tenant_id' | 'app_id' | 'counts_from'>,
    until: number,
    featureKeys: readonly string[],
  ): Promise<Map<string, Big>> {
    const rows = await sql<{ feature_key: string; quantity: string }[]>`
      select feature_key, sum(quantity)::text as quantity
      from billing.subscription join billing.usage_total as total
        on total.tenant_id = subscription.tenant_id and subscription_id = subscription.id
      where subscription.tenant_id = ${tenant_id} and app_id = ${app_id}
        and segment_start >= ${counts_from} and segment_start < ${new Date(until)}
        and feature_key = any(${[...featureKeys]}::text[])
      group by feature_key`;
    return new Map(rows.map(({ feature_key, quantity }) => [feature_key, new Big(quantity)]));
  },

  /** What final invoices have charged for groups, and what they deducted and taxed. */
  async charged({ tenant_id, id }: Owner, groups: readonly GroupKey[]): Promise<ChargedGroups> {
    if (groups.length === 0) return new Map();
    const rows = await sql<ChargedRow[]>`
      select invoice.id, group_period, group_plan_id, group_revision, line.feature_key, sum(line.amount)::text as amount, subtotal, total,
        discounts, taxes, returns <> '[]' as is_mixed, (
          select coalesce(sum(
            greatest(least(received_amount, refunded_amount + refunding_amount) - unapplied_amount, 0)
            - greatest(reclaimed_amount - least(unapplied_amount, refunded_amount + refunding_amount), 0)
          ), 0)::text
          from billing.payment where payment.tenant_id = invoice.tenant_id and payment.invoice_id = invoice.id
        ) as refunded
      from billing.invoice
      join billing.line_item as line on line.tenant_id = invoice.tenant_id and line.invoice_id = invoice.id
      join unnest(
        ${groups.map(({ periodStart }) => new Date(periodStart).toISOString())}::text[], ${groups.map(({ planId }) => planId)}::text[],
        ${groups.map(({ revision }) => revision)}::integer[], ${groups.map(({ featureKey }) => featureKey ?? '')}::text[]
      ) as wanted(period_start, plan_id, revision, feature_key)
        on group_period = wanted.period_start::timestamptz and group_plan_id = wanted.plan_id and group_revision = wanted.revision
          and line.feature_key = wanted.feature_key
      where invoice.tenant_id = ${tenant_id} and subscription_id = ${id} and status in ('pending', 'past_due', 'paid')
      group by invoice.tenant_id, invoice.id, group_period, group_plan_id, group_revision, line.feature_key
      order by invoice.id`;
    const given = await sql<{ returns: StoredReturn[] }[]>`
      select returns from billing.invoice
      where tenant_id = ${tenant_id} and subscription_id = ${id} and returns <> '[]' and status in ('pending', 'past_due', 'paid')`;
    const returns = given.flatMap((one) => one.returns);
    const invoices = new Map(rows.map((row) => [row.id, chargedInvoiceOf(row, returns)]));
    const charged = rows.map((row): Charged & { readonly group: string } => ({
      group: groupOf(row),
      invoice: invoices.get(row.id)!,
      amount: BigInt(row.amount),
    }));
    return Map.groupBy(charged, ({ group }) => group);
  },

  /** What the other drafts of a subscription show of each group, by name; for one that nobody asked for, those that somebody asked for do not count. */
  async shown({ tenant_id, id }: Owner, draft: DraftKey): Promise<Map<string, bigint>> {
    const rows = await sql<ShownRow[]>`
      select group_period, group_plan_id, group_revision, feature_key, sum(amount)::text as amount
      from billing.invoice
      join billing.line_item as line on line.tenant_id = invoice.tenant_id and line.invoice_id = invoice.id
      where invoice.tenant_id = ${tenant_id} and subscription_id = ${id} and status = 'draft'
        ${draft.id === null ? sql`` : sql`and invoice.id <> ${draft.id}`} ${draft.isManual ? sql`` : sql`and origin <> 'manual'`}
      group by group_period, group_plan_id, group_revision, feature_key`;
    return new Map(rows.map((row) => [groupOf(row), BigInt(row.amount)]));
  },

  /**
   * The coupons of a subscription in the order of their redemption; amounts in another currency deduct nothing. `lock` keeps others from
   * using their codes until the end of the transaction, also for other subscriptions of the tenant.
   */
  async coupons(
    { tenant_id, app_id, id }: Owner,
    { currency, lock }: { readonly currency: string; readonly lock: boolean },
  ): Promise<RedeemedCoupon[]> {
    if (lock)
      await sql`
        select from billing.redemption
        where tenant_id = ${tenant_id} and app_id = ${app_id} and lower(code) in (
          select lower(code) from billing.redemption where tenant_id = ${tenant_id} and subscription_id = ${id}
        )
        order by subscription_id, coupon_id for no key update`;
    const rows = await sql<RedemptionRow[]>`
      select coupon_id, code, percentage, amount, duration, duration_periods, coalesce((
        select json_agg(json_build_object('start', period_start, 'end', period_end, 'amount', amount::text) order by period_start)
        from (
          select period_start, max(period_end) as period_end, sum(amount) as amount from billing.coupon_use
          where tenant_id = ${tenant_id} and app_id = ${app_id} and code_key = lower(redemption.code)
          group by period_start
        ) as used
      ), '[]') as uses
      from billing.redemption
      where tenant_id = ${tenant_id} and subscription_id = ${id} and (currency is null or currency = ${currency})
      order by position`;
    // Coupons with one code are one coupon, of which the first was redeemed.
    const byCode = Map.groupBy(rows, ({ code }) => code.toLowerCase());
    return [...byCode.values()]
      .map(([row]) => row!)
      .map((row) => ({
        couponId: row.coupon_id,
        code: row.code,
        value: row.percentage === null ? { amount: BigInt(row.amount ?? 0) } : { percentage: row.percentage },
        duration: row.duration,
        periods: row.duration_periods,
        uses: row.uses.map(useOf),
      }));
  },

  /** Notes what a final invoice deducts for coupons, which is not granted again in the same periods. */
  async use(
    { tenant_id, app_id }: Owner,
    invoiceId: string,
    discounts: readonly PeriodDiscount[],
  ): Promise<void> {
    for (const { code, period, amount } of discounts)
      await sql`insert into billing.coupon_use ${sql({
        ...{ tenant_id, app_id, invoice_id: invoiceId, code_key: code.toLowerCase(), amount: String(amount) },
        ...{ period_start: new Date(period.start), period_end: new Date(period.end) },
      })}`;
  },

  /** Takes back what an invoice has deducted, whose charges are owed again. */
  async takeBackUses({ tenant_id }: Owner, invoiceId: string): Promise<void> {
    await sql`delete from billing.coupon_use where tenant_id = ${tenant_id} and invoice_id = ${invoiceId}`;
  },

  /** The rates of a country; without a country, one of the app's, which shows that it has any. */
  async taxRates(app: string, country: string | null): Promise<TaxRate[]> {
    return await sql<TaxRate[]>`
      select id, country, state, name, rate, app_id, created_at from billing.tax_rate
      where app_id = ${app} ${country === null ? sql`` : sql`and country = ${country.toUpperCase()}`}
      limit ${country === null ? 1 : 1_000}`;
  },

  /** The named customer, otherwise the tenant's oldest one with the currency. `lock` keeps its balance until the end of the transaction. */
  async payer(
    { tenant_id, app_id }: Owner,
    { customerId, currency, lock }: { customerId: string | null; currency: string; lock: boolean },
  ): Promise<PayerRow | undefined> {
    const [payer] = await sql<PayerRow[]>`
      select id, name, email, balance, billing_address, tax_ids, deleted_at is not null as "isErased" from billing.customer
      where tenant_id = ${tenant_id} and app_id = ${app_id} and currency = ${currency}
        ${customerId === null ? sql`and deleted_at is null` : sql`and id = ${customerId}`}
      order by id limit 1
      ${lock ? sql`for no key update` : sql``}`;
    return payer;
  },
});
