import type { Sql } from '../../../db/index.ts';
import type { PaymentKey, PaymentRow } from './payment.ts';

/** What is known of the invoice of a payment besides the payment. In minor units. */
export interface Returns {
  /** What later invoices have given back of it, and what of that has paid for itself. */
  readonly given: bigint;
  /** What they have not given back because it was refunded. */
  readonly withheld: bigint;
  /** What refunds of its other payments have taken back of that credit, and what they have returned besides. */
  readonly reclaimedByOthers: bigint;
  readonly refundedByOthers: bigint;
}

/** The statements about credit that refunds take back. */
export const reclaimingStore = (sql: Sql) => ({
  /**
   * Locks the subscription of a payment's invoice, and those of all open invoices that the credit of its customer pays, always in the same
   * order.
   */
  async lockSubscriptions({ tenant_id, id }: Pick<PaymentKey, 'tenant_id' | 'id'>): Promise<void> {
    await sql`
      select from billing.subscription
      where tenant_id = ${tenant_id} and id in (
        select subscription_id from billing.invoice
        join billing.payment on payment.tenant_id = invoice.tenant_id
          and (payment.invoice_id = invoice.id or payment.customer_id = invoice.customer_id)
        where payment.tenant_id = ${tenant_id} and payment.id = ${id}
          and (payment.invoice_id = invoice.id or invoice.status in ('pending', 'past_due') and credit_applied > 0)
      )
      order by id for no key update`;
  },

  async returns({ tenant_id, id, invoice_id }: PaymentRow): Promise<Returns> {
    const [row] = await sql<[Record<keyof Returns, string>]>`
      with parts as (
        select (part->>'total')::numeric as total,
          round((part->>'withheld')::numeric * charged.total / nullif(charged.subtotal, 0)) as withheld, charged.set_off_amount
        from billing.invoice as charged
        join billing.invoice as credit on credit.tenant_id = charged.tenant_id
          and credit.subscription_id = charged.subscription_id and credit.returns <> '[]'
          and credit.status in ('pending', 'past_due', 'paid')
        cross join jsonb_array_elements(credit.returns) as part
        where charged.tenant_id = ${tenant_id} and charged.id = ${invoice_id} and part->>'invoice_id' = charged.id
      ), others as (
        select greatest(reclaimed_amount - least(unapplied_amount, refunded_amount + refunding_amount), 0) as reclaimed,
          greatest(refunded_amount + refunding_amount - unapplied_amount, 0) as refunded
        from billing.payment
        where tenant_id = ${tenant_id} and invoice_id = ${invoice_id} and id <> ${id}
      )
      select
        (select coalesce(greatest(sum(total) - max(set_off_amount), 0), 0)::bigint::text from parts) as given,
        (select coalesce(sum(withheld), 0)::bigint::text from parts) as withheld,
        (select coalesce(sum(reclaimed), 0)::bigint::text from others) as "reclaimedByOthers",
        (select coalesce(sum(refunded - reclaimed), 0)::bigint::text from others) as "refundedByOthers"`;
    return {
      given: BigInt(row.given),
      withheld: BigInt(row.withheld),
      reclaimedByOthers: BigInt(row.reclaimedByOthers),
      refundedByOthers: BigInt(row.refundedByOthers),
    };
  },
});
