import type { Customer } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';
import { counted, onePage, type PageRequest, readPage } from '../pages.store.ts';
import { emailKey } from './email.ts';

/** A customer as it is stored. */
export interface CustomerRow extends Omit<Customer, 'balance'> {
  /** Minor units of its currency. */
  readonly balance: number;
  /** What earlier invoices have left to the next one, in minor units. */
  readonly carried_amount: number;
}

/** Which customer of which tenant and app. */
export type CustomerKey = Pick<CustomerRow, 'tenant_id' | 'app_id' | 'id'>;

/** Every statement about customers, apart from their balances. Erased ones are found by none of them. */
export const customerStore = (sql: Sql) => ({
  /** @throws the violation of `customer_email` when another customer of the tenant has the address */
  async insert({
    billing_address,
    tax_ids,
    balance: _,
    carried_amount: _none,
    ...row
  }: CustomerRow): Promise<void> {
    await sql`
      insert into billing.customer ${sql({ ...row, email_key: emailKey(row.email), ...texts({ billing_address, tax_ids }) })}`;
  },

  async find(view: View, id: string): Promise<CustomerRow | undefined> {
    const [row] = await sql<CustomerRow[]>`
      select ${columns(sql)} from billing.customer where ${isInView(sql, view)} and id = ${id} and deleted_at is null`;
    return row;
  },

  /** Finds the customer of a tenant with an email address, in any case. */
  async findByEmail(tenant: string, app: string, email: string): Promise<CustomerRow | undefined> {
    const [row] = await sql<CustomerRow[]>`
      select ${columns(sql)} from billing.customer
      where tenant_id = ${tenant} and app_id = ${app} and email_key = ${emailKey(email)} and deleted_at is null`;
    return row;
  },

  async list(view: View, page: PageRequest) {
    const rows = sql`from billing.customer where ${isInView(sql, view)} and deleted_at is null`;
    return await readPage(
      sql<CustomerRow[]>`select ${columns(sql)} ${rows} ${onePage(sql, page)}`,
      counted(sql, rows),
    );
  },

  /** Locks a customer until the end of the transaction, against every other change of it and of its balance. */
  async lock(view: View, id: string): Promise<CustomerRow | undefined> {
    const [row] = await sql<CustomerRow[]>`
      select ${columns(sql)} from billing.customer
      where ${isInView(sql, view)} and id = ${id} and deleted_at is null for no key update`;
    return row;
  },

  /** @throws the violation of `customer_email` when another customer of the tenant has the address */
  async update({ tenant_id, id, ...row }: CustomerRow): Promise<void> {
    const { name, email, currency, metadata, updated_at } = row;
    const changed = { name, email, email_key: emailKey(email), currency, metadata, updated_at };
    await sql`
      update billing.customer set ${sql({ ...changed, ...texts(row) })} where tenant_id = ${tenant_id} and id = ${id}`;
  },

  /**
   * Whether amounts are recorded in the currency of a customer, or are about to be, by a draft that becomes final by itself or a live
   * subscription, so that it has to stay.
   */
  async isBilled(customer: CustomerKey): Promise<boolean> {
    const { tenant_id, id } = customer;
    const [{ billed }] = await sql<[{ billed: boolean }]>`
      select exists (
        select from billing.invoice
        where tenant_id = ${tenant_id} and customer_id = ${id} and (status <> 'draft' or auto_finalize_at is not null)
      ) or exists (
        select from billing.balance_entry where tenant_id = ${tenant_id} and customer_id = ${id}
      ) as billed`;
    return billed || (await this.isNeeded(customer));
  },

  /** Whether a live subscription is billed to a customer: one that names it, or names nobody while it is the one to pay. */
  async isNeeded({ tenant_id, app_id, id }: CustomerKey): Promise<boolean> {
    const found = await sql`
      select from billing.subscription
      where tenant_id = ${tenant_id} and app_id = ${app_id} and status in ('trialing', 'active', 'past_due', 'paused')
        and (
          customer_id = ${id}
          or customer_id is null and ${id} = (
            select customer.id from billing.customer join billing.plan_revision as revision
              on revision.app_id = subscription.app_id and revision.plan_id = subscription.plan_id and revision.revision = 1
            where customer.tenant_id = ${tenant_id} and customer.app_id = ${app_id} and customer.deleted_at is null
              and customer.currency = revision.currency
            order by customer.id limit 1
          )
        )
      limit 1`;
    return found.length > 0;
  },
});

const texts = ({ billing_address, tax_ids }: Pick<CustomerRow, 'billing_address' | 'tax_ids'>) => ({
  billing_address: billing_address as object | null,
  tax_ids: tax_ids as object,
});

/** The columns of a customer. */
export const columns = (sql: Sql) => sql`
  id, tenant_id, app_id, name, email, currency, balance, carried_amount, billing_address, tax_ids, metadata, created_at, updated_at`;
