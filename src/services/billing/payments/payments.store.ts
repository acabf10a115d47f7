import type { PaymentStatus } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';
import { counted, onePage, type PageRequest, readPage } from '../pages.store.ts';
import type { PaymentKey, PaymentRow } from './payment.ts';

export interface PaymentFilter {
  readonly status?: PaymentStatus | undefined;
  readonly invoice_id?: string | undefined;
  readonly customer_id?: string | undefined;
}

export type PaymentChange = Partial<
  Pick<
    PaymentRow,
    | 'status'
    | 'processor_id'
    | 'refunded_amount'
    | 'refunding_amount'
    | 'refund_reason'
    | 'received_amount'
    | 'unapplied_amount'
    | 'reclaimed_amount'
    | 'failure_code'
    | 'failure_message'
    | 'next_action'
    | 'check_at'
    | 'completed_at'
  >
>;

/** What a payment starts with. */
export type NewPayment = Pick<
  PaymentRow,
  | 'tenant_id'
  | 'id'
  | 'app_id'
  | 'invoice_id'
  | 'customer_id'
  | 'payment_method_id'
  | 'currency'
  | 'processor_name'
  | 'source'
  | 'metadata'
  | 'idempotency_key'
  | 'request_digest'
  | 'is_automatic'
>;

type Key = Pick<PaymentKey, 'tenant_id' | 'id'>;

/** Every statement about payments. */
export const paymentStore = (sql: Sql) => ({
  /**
   * Stores a payment of an amount, by default of all that is due and not being paid, unless that is less. The invoice is locked, so that
   * no other payment takes the same money.
   *
   * @param times when it is made and when it is looked at first
   * @returns undefined when the amount is more than there is, or nothing
   */
  async reserve(
    row: NewPayment,
    amount: bigint | undefined,
    { at, checkAt }: { at: number; checkAt: number },
  ): Promise<PaymentRow | undefined> {
    const asked = amount === undefined ? null : String(amount);
    const [payment] = await sql<PaymentRow[]>`
      with room as (
        select amount_due - amount_paid - coalesce((
          select sum(amount)::bigint from billing.payment
          where tenant_id = ${row.tenant_id} and invoice_id = ${row.invoice_id} and status = 'pending'
        ), 0) as amount
        from billing.invoice where tenant_id = ${row.tenant_id} and id = ${row.invoice_id}
      )
      insert into billing.payment (tenant_id, id, app_id, invoice_id, customer_id, payment_method_id, amount, currency, status,
        processor_name, source, metadata, idempotency_key, request_digest, is_automatic, check_at, created_at, updated_at)
      select ${row.tenant_id}::text, ${row.id}::text, ${row.app_id}::text, ${row.invoice_id}::text, ${row.customer_id}::text,
        ${row.payment_method_id}::text, coalesce(${asked}::bigint, room.amount), ${row.currency}::text, 'pending',
        ${row.processor_name}::text, ${row.source}::jsonb, ${row.metadata}::jsonb, ${row.idempotency_key}::text,
        ${row.request_digest}::bytea, ${row.is_automatic}::boolean, ${new Date(checkAt)}::timestamptz, ${new Date(at)}::timestamptz,
        ${new Date(at)}::timestamptz
      from room where coalesce(${asked}::bigint, room.amount) between 1 and room.amount
      returning ${columns(sql)}`;
    return payment;
  },

  async find(view: View, id: string): Promise<PaymentRow | undefined> {
    const [row] = await sql<PaymentRow[]>`
      select ${columns(sql)} from billing.payment where ${isInView(sql, view)} and id = ${id}`;
    return row;
  },

  /** The payment that was made with an idempotency key. */
  async keyed(
    { tenant_id, app_id }: Pick<PaymentRow, 'tenant_id' | 'app_id'>,
    key: string,
  ): Promise<PaymentRow | undefined> {
    const [row] = await sql<PaymentRow[]>`
      select ${columns(sql)} from billing.payment
      where tenant_id = ${tenant_id} and app_id = ${app_id} and idempotency_key = ${key}`;
    return row;
  },

  /** Locks a payment until the end of the transaction. Its invoice is locked before, so that nobody waits in a circle. */
  async lock({ tenant_id, id }: Key): Promise<PaymentRow> {
    const [row] = await sql<[PaymentRow]>`
      select ${columns(sql)} from billing.payment where tenant_id = ${tenant_id} and id = ${id} for no key update`;
    return row;
  },

  async list(view: View, { status, invoice_id, customer_id }: PaymentFilter, page: PageRequest) {
    const rows = sql`
      from billing.payment
      where ${isInView(sql, view)}
        ${status === undefined ? sql`` : sql`and status = ${status}`}
        ${invoice_id === undefined ? sql`` : sql`and invoice_id = ${invoice_id}`}
        ${customer_id === undefined ? sql`` : sql`and customer_id = ${customer_id}`}`;
    return await readPage(
      sql<PaymentRow[]>`select ${columns(sql)} ${rows} ${onePage(sql, page)}`,
      counted(sql, rows),
    );
  },

  async change({ tenant_id, id }: Key, change: PaymentChange, at: number): Promise<PaymentRow> {
    const [row] = await sql<[PaymentRow]>`
      update billing.payment set ${sql({ ...change, updated_at: new Date(at) })}
      where tenant_id = ${tenant_id} and id = ${id} returning ${columns(sql)}`;
    return row;
  },

  /** Keeps an amount for a refund, unless less is left of what has arrived. */
  async reserveRefund({ tenant_id, id }: Key, amount: bigint): Promise<boolean> {
    const reserved = await sql`
      update billing.payment set refunding_amount = refunding_amount + ${String(amount)}::bigint
      where tenant_id = ${tenant_id} and id = ${id} and status in ('succeeded', 'refunded')
        and ${String(amount)}::bigint between 1 and received_amount - refunded_amount - refunding_amount`;
    return reserved.count > 0;
  },

  /** The payments of a customer that follow one, oldest first. */
  async following(
    { tenant_id, app_id }: Pick<PaymentRow, 'tenant_id' | 'app_id'>,
    customerId: string,
    after: string,
    most: number,
  ): Promise<PaymentRow[]> {
    return await sql<PaymentRow[]>`
      select ${columns(sql)} from billing.payment
      where tenant_id = ${tenant_id} and app_id = ${app_id} and customer_id = ${customerId} and id > ${after}
      order by id limit ${most}`;
  },

  /** Takes what payments have brought from their invoice, and returns them with what each had brought beyond it before. */
  async release(
    { tenant_id, invoice_id }: Pick<PaymentKey, 'tenant_id' | 'invoice_id'>,
    at: number,
  ): Promise<(PaymentRow & { readonly unapplied_before: number })[]> {
    return await sql<(PaymentRow & { readonly unapplied_before: number })[]>`
      with held as (
        select tenant_id, id, unapplied_amount as unapplied_before from billing.payment
        where tenant_id = ${tenant_id} and invoice_id = ${invoice_id} and received_amount > unapplied_amount
        for no key update
      ), released as (
        update billing.payment set unapplied_amount = received_amount, updated_at = ${new Date(at)}
        from held where payment.tenant_id = held.tenant_id and payment.id = held.id
        returning payment.*, unapplied_before
      )
      select ${columns(sql)}, unapplied_before from released order by id`;
  },

  /** Cancels the open payments of an invoice that is closed. Those of a provider are looked at again, so that it learns of it. */
  async cancelOpen(
    { tenant_id, invoice_id }: Pick<PaymentKey, 'tenant_id' | 'invoice_id'>,
    at: number,
  ): Promise<PaymentRow[]> {
    const now = new Date(at);
    return await sql<PaymentRow[]>`
      update billing.payment
      set status = 'canceled', next_action = null, completed_at = ${now}, updated_at = ${now},
        check_at = case when processor_id is null then null else ${now}::timestamptz end
      where tenant_id = ${tenant_id} and invoice_id = ${invoice_id} and status = 'pending'
        and exists (
          select from billing.invoice
          where tenant_id = ${tenant_id} and id = ${invoice_id} and invoice.status in ('paid', 'voided')
        )
      returning ${columns(sql)}`;
  },

  /** Says when a payment is looked at again, unless its outcome has become known meanwhile. */
  async checkAgain({ tenant_id, id }: Key, at: number | null): Promise<void> {
    await sql`
      update billing.payment set check_at = ${at === null ? null : new Date(at)}
      where tenant_id = ${tenant_id} and id = ${id} and check_at is not null`;
  },

  /** Takes up payments of a provider that are due for a look, until a time at which others may take them up. */
  async claim(
    processors: readonly string[],
    { at, until, most }: { at: number; until: number; most: number },
  ): Promise<PaymentRow[]> {
    return await sql<PaymentRow[]>`
      update billing.payment set check_at = ${new Date(until)}
      where (tenant_id, id) in (
        select tenant_id, id from billing.payment
        where check_at <= ${new Date(at)} and processor_name = any(${[...processors]}::text[])
        order by check_at limit ${most} for no key update skip locked
      )
      returning ${columns(sql)}`;
  },

  /** The payment that a provider speaks of, by its own id or by the payment's, which it was told. */
  async spokenOf(
    processors: readonly string[],
    processorId: string,
    id: string,
  ): Promise<PaymentRow | undefined> {
    const [row] = await sql<PaymentRow[]>`
      select ${columns(sql)} from billing.payment
      where processor_name = any(${[...processors]}::text[]) and processor_id = ${processorId}
      union all
      (
        select ${columns(sql)} from billing.payment
        where id = ${id} and processor_name = any(${[...processors]}::text[]) and processor_id is null
      )
      limit 1`;
    return row;
  },
});

const columns = (sql: Sql) => sql`
  tenant_id, id, app_id, invoice_id, customer_id, payment_method_id, amount, currency, status, processor_name, processor_id,
  refunded_amount, refunding_amount, refund_reason, received_amount, unapplied_amount, reclaimed_amount, failure_code, failure_message, next_action, source,
  metadata, idempotency_key, request_digest, is_automatic, check_at, created_at, completed_at, updated_at`;
