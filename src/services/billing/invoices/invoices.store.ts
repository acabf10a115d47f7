import { Big } from 'big.js';
import type {
  BillTo,
  Currency,
  InvoiceOrigin,
  InvoiceStatus,
  LineItemType,
  Metadata,
  TaxStatus,
} from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';
import { newId } from '../../../lib/ids.ts';
import { counted, onePage, type PageRequest, readPage } from '../pages.store.ts';
import type { Line } from './lines.ts';
import { isInvoiceNumber } from './numbers.ts';

/** What one coupon deducts. Amounts are minor units. */
export interface StoredDiscount {
  readonly coupon_id: string;
  readonly code: string;
  readonly amount: number;
}

export interface StoredTax {
  readonly tax_rate_id: string;
  readonly name: string;
  readonly rate: string;
  readonly taxable_amount: number;
  readonly amount: number;
}

/** What an invoice gives back of an earlier one. */
export interface StoredReturn {
  readonly invoice_id: string;
  readonly groups: readonly { readonly group: string; readonly amount: number }[];
  readonly amount: number;
  readonly withheld: number;
  readonly discounts: readonly StoredDiscount[];
  readonly taxes: readonly StoredTax[];
  readonly total: number;
}

/** The members of an invoice that are computed. Amounts are minor units. */
export interface InvoiceFigures {
  readonly customer_id: string | null;
  readonly subtotal: number;
  readonly discount_amount: number;
  readonly tax_amount: number;
  readonly tax_status: TaxStatus;
  readonly total: number;
  readonly credit_applied: number;
  /** What earlier invoices have left to it, less what it leaves to the next one. */
  readonly carried_amount: number;
  readonly amount_due: number;
  readonly discounts: readonly StoredDiscount[];
  readonly taxes: readonly StoredTax[];
  readonly returns: readonly StoredReturn[];
}

/** An invoice as it is stored, without its lines. */
export interface InvoiceRow extends InvoiceFigures {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  /** Null until it is final. */
  readonly number: string | null;
  readonly subscription_id: string;
  readonly status: InvoiceStatus;
  readonly origin: InvoiceOrigin;
  readonly currency: Currency;
  readonly amount_paid: number;
  /** What of its credit came from charges that were given back before they were paid. */
  readonly set_off_amount: number;
  readonly bill_to: BillTo | null;
  readonly period_start: string;
  readonly period_end: string;
  readonly due_date: string | null;
  readonly finalized_at: string | null;
  readonly paid_at: string | null;
  readonly voided_at: string | null;
  readonly void_reason: string | null;
  readonly payment_ref: string | null;
  readonly attempt_count: number;
  readonly next_attempt_at: string | null;
  readonly auto_finalize_at: string | null;
  readonly metadata: Metadata;
  readonly created_at: string;
  readonly updated_at: string;
}

export type InvoiceChange = Partial<
  Omit<InvoiceRow, 'tenant_id' | 'id' | 'app_id' | 'subscription_id' | 'created_at' | 'updated_at'> & {
    /** Whether it was voided so that its charges are owed again. */
    readonly is_rebilled: boolean;
  }
>;

/** A line as it is stored. */
export interface LineRow {
  readonly id: string;
  readonly type: LineItemType;
  readonly description: string;
  readonly quantity: string;
  readonly unit: string;
  readonly flat: number;
  readonly amount: number;
  readonly period_start: string;
  readonly period_end: string;
  readonly group_period: string;
  readonly group_plan_id: string;
  readonly group_revision: number;
  readonly feature_key: string;
}

export interface InvoiceFilter {
  readonly status?: InvoiceStatus | undefined;
  /** Milliseconds since 1970. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly subscription_id?: string | undefined;
  readonly customer_id?: string | undefined;
}

/** Which invoice of which tenant. */
export type InvoiceKey = Pick<InvoiceRow, 'tenant_id' | 'id'>;

/** Every statement about invoices and their lines. */
export const invoiceStore = (sql: Sql) => ({
  /** The next sequence of the year. Held until the end of the transaction, so that no number is missing when it fails. */
  async nextSequence(app: string, year: number): Promise<number> {
    const [{ last }] = await sql<[{ last: number }]>`
      insert into billing.invoice_number (app_id, year, last) values (${app}, ${year}, 1)
      on conflict (app_id, year) do update set last = invoice_number.last + 1
      returning last`;
    return last;
  },

  async insert(row: InvoiceRow): Promise<void> {
    const { discounts, taxes, returns, ...rest } = row;
    const lists = { discounts: [...discounts], taxes: [...taxes], returns: [...returns] };
    await sql`insert into billing.invoice ${sql({ ...rest, ...lists })}`;
  },

  async find(view: View, ref: string): Promise<InvoiceRow | undefined> {
    const [row] = await sql<InvoiceRow[]>`
      select ${columns(sql)} from billing.invoice where ${isInView(sql, view)} and ${named(sql, ref)}`;
    return row;
  },

  /** Locks an invoice until the end of the transaction. Its subscription is locked before, so that nobody waits in a circle. */
  async lock(key: InvoiceKey): Promise<InvoiceRow | undefined> {
    const [row] = await sql<InvoiceRow[]>`
      select ${columns(sql)} from billing.invoice
      where tenant_id = ${key.tenant_id} and id = ${key.id} for no key update`;
    return row;
  },

  /** Locks what a customer has still to pay of a subscription, whose row is locked, oldest first. */
  async lockOpen(
    { tenant_id, id }: { readonly tenant_id: string; readonly id: string },
    customerId: string,
  ): Promise<InvoiceRow[]> {
    return await sql<InvoiceRow[]>`
      select ${columns(sql)} from billing.invoice
      where tenant_id = ${tenant_id} and subscription_id = ${id} and customer_id = ${customerId}
        and status in ('pending', 'past_due') and amount_due > amount_paid
      order by id for no key update`;
  },

  /** Locks the newest drafts that somebody asked for and that show a charge of an invoice, too. Their subscription is locked. */
  async lockManualDrafts(
    { tenant_id, id, subscription_id }: InvoiceRow,
    most: number,
  ): Promise<InvoiceRow[]> {
    return await sql<InvoiceRow[]>`
      select ${columns(sql)} from billing.invoice
      where tenant_id = ${tenant_id} and subscription_id = ${subscription_id} and status = 'draft' and origin = 'manual'
        and exists (
          select from billing.line_item as line
          join billing.line_item as taken on taken.tenant_id = line.tenant_id and taken.group_period = line.group_period
            and taken.group_plan_id = line.group_plan_id and taken.group_revision = line.group_revision
            and taken.feature_key = line.feature_key
          where line.tenant_id = ${tenant_id} and line.invoice_id = invoice.id and taken.invoice_id = ${id}
        )
      order by id desc limit ${most} for no key update`;
  },

  /** Locks what a customer has still to pay although its credit pays a part of it, newest first. Their subscriptions are locked. */
  async lockUsingCredit(tenant: string, customerId: string): Promise<InvoiceRow[]> {
    return await sql<InvoiceRow[]>`
      select ${columns(sql)} from billing.invoice
      where tenant_id = ${tenant} and customer_id = ${customerId} and status in ('pending', 'past_due') and credit_applied > 0
      order by id desc for no key update`;
  },

  async list(view: View, filter: InvoiceFilter, page: PageRequest) {
    const { status, start, end, subscription_id, customer_id } = filter;
    const rows = sql`
      from billing.invoice
      where ${isInView(sql, view)}
        ${status === undefined ? sql`` : sql`and status = ${status}`}
        ${start === undefined ? sql`` : sql`and created_at >= ${new Date(start)}`}
        ${end === undefined ? sql`` : sql`and created_at < ${new Date(end)}`}
        ${subscription_id === undefined ? sql`` : sql`and subscription_id = ${subscription_id}`}
        ${customer_id === undefined ? sql`` : sql`and customer_id = ${customer_id}`}`;
    return await readPage(
      sql<InvoiceRow[]>`select ${columns(sql)} ${rows} ${onePage(sql, page)}`,
      counted(sql, rows),
    );
  },

  /** The invoices of a customer that follow one, oldest first. */
  async following(
    { tenant_id, app_id }: Pick<InvoiceRow, 'tenant_id' | 'app_id'>,
    customerId: string,
    after: string,
    most: number,
  ): Promise<InvoiceRow[]> {
    return await sql<InvoiceRow[]>`
      select ${columns(sql)} from billing.invoice
      where tenant_id = ${tenant_id} and app_id = ${app_id} and customer_id = ${customerId} and id > ${after}
      order by id limit ${most}`;
  },

  async lines({ tenant_id, id }: InvoiceKey): Promise<LineRow[]> {
    return await sql<LineRow[]>`
      select id, type, description, quantity::text, unit::text, flat, amount, period_start, period_end, group_period, group_plan_id,
        group_revision, feature_key
      from billing.line_item where tenant_id = ${tenant_id} and invoice_id = ${id} order by position`;
  },

  async replaceLines({ tenant_id, id }: InvoiceKey, lines: readonly Line[]): Promise<void> {
    await sql`delete from billing.line_item where tenant_id = ${tenant_id} and invoice_id = ${id}`;
    if (lines.length === 0) return;
    const column = (of: (line: Line) => string) => lines.map(of);
    await sql`
      insert into billing.line_item (tenant_id, invoice_id, position, id, type, description, quantity, unit, flat, amount, period_start,
        period_end, group_period, group_plan_id, group_revision, feature_key)
      select ${tenant_id}, ${id}, position, id, type, description, quantity::numeric, unit::numeric, flat, amount, period_start,
        period_end, group_period, group_plan_id, group_revision, feature_key
      from unnest(
        ${column(() => newId('li'))}::text[], ${column(({ type }) => type)}::text[],
        ${column(({ description }) => description)}::text[], ${column(({ quantity }) => quantity.toFixed())}::text[],
        ${column(({ unit }) => unit.toFixed())}::text[], ${column(({ flat }) => String(flat))}::text[]::bigint[],
        ${column(({ amount }) => String(amount))}::text[]::bigint[],
        ${column(({ period }) => instant(period.start))}::text[]::timestamptz[],
        ${column(({ period }) => instant(period.end))}::text[]::timestamptz[],
        ${column(({ key }) => instant(key.periodStart))}::text[]::timestamptz[],
        ${column(({ key }) => key.planId)}::text[], ${lines.map(({ key }) => key.revision)}::integer[],
        ${column(({ key }) => key.featureKey ?? '')}::text[]
      ) with ordinality as line(id, type, description, quantity, unit, flat, amount, period_start, period_end, group_period,
        group_plan_id, group_revision, feature_key, position)`;
  },

  async change({ tenant_id, id }: InvoiceKey, change: InvoiceChange, at: number): Promise<void> {
    const { discounts, taxes, returns, ...rest } = change;
    const set = {
      ...rest,
      ...(discounts !== undefined && { discounts: [...discounts] }),
      ...(taxes !== undefined && { taxes: [...taxes] }),
      ...(returns !== undefined && { returns: [...returns] }),
      updated_at: new Date(at),
    };
    await sql`update billing.invoice set ${sql(set)} where tenant_id = ${tenant_id} and id = ${id}`;
  },

  /** What later invoices have given back of one, with its discounts and taxes. */
  async givenBack({ tenant_id, id, subscription_id }: InvoiceRow): Promise<number> {
    const [{ given }] = await sql<[{ given: number }]>`
      select coalesce(sum((part->>'total')::bigint), 0)::bigint as given
      from billing.invoice cross join jsonb_array_elements(returns) as part
      where tenant_id = ${tenant_id} and subscription_id = ${subscription_id} and returns <> '[]'
        and status in ('pending', 'past_due', 'paid') and part->>'invoice_id' = ${id}`;
    return given;
  },

  /** Whether the charges of a voided invoice are owed again. */
  async isRebilled({ tenant_id, id }: InvoiceKey): Promise<boolean> {
    const [row] = await sql<[{ is_rebilled: boolean }]>`
      select is_rebilled from billing.invoice where tenant_id = ${tenant_id} and id = ${id}`;
    return row.is_rebilled;
  },

  /** Whether a subscription has an invoice that is overdue, or whose collection has failed. */
  async hasDebts(tenant: string, subscriptionId: string): Promise<boolean> {
    const found = await sql`
      select from billing.invoice
      where tenant_id = ${tenant} and subscription_id = ${subscriptionId}
        and (status = 'past_due' or status = 'pending' and attempt_count > 0)
      limit 1`;
    return found.length > 0;
  },
});

const instant = (ms: number): string => new Date(ms).toISOString();

const named = (sql: Sql, ref: string) => (isInvoiceNumber(ref) ? sql`number = ${ref}` : sql`id = ${ref}`);

const columns = (sql: Sql) => sql`
  tenant_id, id, app_id, number, subscription_id, customer_id, status, origin, currency, subtotal, discount_amount, tax_amount, tax_status, total,
  credit_applied, carried_amount, amount_due, amount_paid, set_off_amount, discounts, taxes, returns, bill_to, period_start, period_end, due_date, finalized_at, paid_at, voided_at,
  void_reason, payment_ref, attempt_count, next_attempt_at, auto_finalize_at, metadata, created_at, updated_at`;

/** A stored line as it was computed. */
export const lineOf = (row: LineRow): Line => ({
  type: row.type,
  description: row.description,
  quantity: new Big(row.quantity),
  unit: new Big(row.unit),
  flat: BigInt(row.flat),
  amount: BigInt(row.amount),
  period: { start: Date.parse(row.period_start), end: Date.parse(row.period_end) },
  key: {
    periodStart: Date.parse(row.group_period),
    planId: row.group_plan_id,
    revision: row.group_revision,
    featureKey: row.feature_key === '' ? null : row.feature_key,
  },
});
