import type { Sql } from '../../../db/index.ts';

/** An invoice that something is due for. */
export interface DueInvoice {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly id: string;
}

/** The statements that find invoices for which something is due, the longest due first. */
export const dueInvoiceStore = (sql: Sql) => ({
  /** Drafts that become final by themselves. */
  async drafts(at: number, most: number): Promise<DueInvoice[]> {
    return await sql<DueInvoice[]>`
      select tenant_id, app_id, id from billing.invoice
      where auto_finalize_at <= ${new Date(at)} and status = 'draft' order by auto_finalize_at limit ${most}`;
  },

  /** Invoices that an attempt of collection is due for. */
  async toCollect(at: number, most: number): Promise<DueInvoice[]> {
    return await sql<DueInvoice[]>`
      select tenant_id, app_id, id from billing.invoice
      where next_attempt_at <= ${new Date(at)} and status in ('pending', 'past_due') order by next_attempt_at limit ${most}`;
  },

  /** Invoices that have become overdue. */
  async overdue(at: number, most: number): Promise<DueInvoice[]> {
    return await sql<DueInvoice[]>`
      select tenant_id, app_id, id from billing.invoice
      where status = 'pending' and due_date <= ${new Date(at)} order by due_date limit ${most}`;
  },

  /** Puts off the next attempt to collect an invoice. */
  async postpone({ tenant_id, id }: DueInvoice, until: number): Promise<void> {
    const later = new Date(until);
    await sql`
      update billing.invoice
      set next_attempt_at = ${later}
      where tenant_id = ${tenant_id} and id = ${id} and next_attempt_at < ${later}`;
  },
});
