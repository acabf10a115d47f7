import type { Sql } from '../../../db/index.ts';

/** A refund as it is stored. */
export interface RefundRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly payment_id: string;
  readonly amount: number;
  readonly reason: string | null;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly processor_id: string | null;
  readonly check_at: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
}

/** The request that asked for a refund, by its key and by what it said. */
export interface KeyedRequest {
  readonly key: string;
  readonly digest: Buffer;
}

/** A refund that is due for a look, with the app of its payment. */
export interface DueRefund extends RefundRow {
  readonly app_id: string;
}

/** A refund with the currency of its payment. */
export interface ListedRefund extends RefundRow {
  readonly currency: string;
}

/** Every statement about refunds. */
export const refundStore = (sql: Sql) => ({
  async insert(row: RefundRow, request: KeyedRequest | undefined): Promise<void> {
    const keyed = { idempotency_key: request?.key ?? null, request_digest: request?.digest ?? null };
    await sql`insert into billing.refund ${sql({ ...row, ...keyed })}`;
  },

  /** The refund of a payment that was asked for with a key, and whether the request said the same. The payment is locked. */
  async keyed(
    { tenant_id, id }: { readonly tenant_id: string; readonly id: string },
    { key, digest }: KeyedRequest,
  ): Promise<(RefundRow & { readonly is_same: boolean }) | undefined> {
    const [row] = await sql<(RefundRow & { is_same: boolean })[]>`
      select tenant_id, id, payment_id, amount, reason, status, processor_id, check_at, created_at, completed_at,
        request_digest = ${digest} as is_same
      from billing.refund
      where tenant_id = ${tenant_id} and payment_id = ${id} and idempotency_key = ${key}`;
    return row;
  },

  /** The refunds of a customer's payments that follow one, oldest first. */
  async following(
    { tenant_id, app_id, id }: { readonly tenant_id: string; readonly app_id: string; readonly id: string },
    after: string,
    most: number,
  ): Promise<ListedRefund[]> {
    return await sql<ListedRefund[]>`
      select refund.tenant_id, refund.id, payment_id, refund.amount, reason, refund.status, refund.processor_id, refund.check_at,
        refund.created_at, refund.completed_at, currency
      from billing.refund
      join billing.payment on payment.tenant_id = refund.tenant_id and payment.id = refund.payment_id
      where refund.tenant_id = ${tenant_id} and app_id = ${app_id} and customer_id = ${id} and refund.id > ${after}
      order by refund.id limit ${most}`;
  },

  /** Ends a refund; false when it has ended already. */
  async end(
    { tenant_id, id }: Pick<RefundRow, 'tenant_id' | 'id'>,
    { status, processorId, at }: { status: 'succeeded' | 'failed'; processorId: string | null; at: number },
  ): Promise<boolean> {
    const ended = await sql`
      update billing.refund
      set status = ${status}, processor_id = ${processorId}, check_at = null, completed_at = ${new Date(at)}
      where tenant_id = ${tenant_id} and id = ${id} and status = 'pending'`;
    return ended.count > 0;
  },

  /** Takes up refunds of payments of a provider that are due for a look, until a time at which others may take them up. */
  async claim(
    processors: readonly string[],
    { at, until, most }: { at: number; until: number; most: number },
  ): Promise<DueRefund[]> {
    return await sql<DueRefund[]>`
      with due as (
        select refund.tenant_id, refund.id, payment.app_id
        from billing.refund
        join billing.payment on payment.tenant_id = refund.tenant_id and payment.id = refund.payment_id
        where refund.check_at <= ${new Date(at)} and payment.processor_name = any(${[...processors]}::text[])
        order by refund.check_at limit ${most} for no key update of refund skip locked
      )
      update billing.refund set check_at = ${new Date(until)}
      from due where refund.tenant_id = due.tenant_id and refund.id = due.id
      returning refund.tenant_id, refund.id, payment_id, amount, reason, status, processor_id, check_at, created_at, completed_at,
        app_id`;
  },
});
