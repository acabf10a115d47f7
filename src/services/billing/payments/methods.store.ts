import type { PaymentMethodType, ProcessorName } from '../../../../generated/billing/types.ts';
import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';

/** A payment method as it is stored. */
export interface MethodRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly customer_id: string;
  readonly processor_name: ProcessorName;
  readonly processor_id: string;
  readonly processor_customer_id: string | null;
  readonly type: PaymentMethodType;
  readonly last4: string | null;
  readonly brand: string | null;
  readonly expiry_month: number | null;
  readonly expiry_year: number | null;
  readonly is_default: boolean;
  readonly created_at: string;
}

/** The customer that owns methods. */
type Owner = Pick<MethodRow, 'tenant_id' | 'customer_id'>;

/** Every statement about payment methods. Their customer is locked while they are changed. */
export const methodStore = (sql: Sql) => ({
  async find(view: View, id: string): Promise<MethodRow | undefined> {
    const [row] = await sql<MethodRow[]>`
      select ${columns(sql)} from billing.payment_method where ${isInView(sql, view)} and id = ${id}`;
    return row;
  },

  /** The methods of a customer, newest first. */
  async list({ tenant_id, customer_id }: Owner): Promise<MethodRow[]> {
    return await sql<MethodRow[]>`
      select ${columns(sql)} from billing.payment_method
      where tenant_id = ${tenant_id} and customer_id = ${customer_id} order by id desc`;
  },

  /** Whether a customer has fewer methods than a number. */
  async hasRoom({ tenant_id, customer_id }: Owner, most: number): Promise<boolean> {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::integer as count from billing.payment_method
      where tenant_id = ${tenant_id} and customer_id = ${customer_id}`;
    return count < most;
  },

  /** The customer's id at a provider, if it has methods there. */
  async processorCustomer({ tenant_id, customer_id }: Owner, processor: string): Promise<string | undefined> {
    const [row] = await sql<{ processor_customer_id: string }[]>`
      select processor_customer_id from billing.payment_method
      where tenant_id = ${tenant_id} and customer_id = ${customer_id} and processor_name = ${processor}
        and processor_customer_id is not null
      order by id limit 1`;
    return row?.processor_customer_id;
  },

  /** Stores a method, which is the default if it is the only one; undefined when the customer has the most already. */
  async insert(row: Omit<MethodRow, 'is_default'>, most: number): Promise<MethodRow | undefined> {
    const [stored] = await sql<MethodRow[]>`
      with had as (
        select count(*) as methods from billing.payment_method
        where tenant_id = ${row.tenant_id} and customer_id = ${row.customer_id}
      )
      insert into billing.payment_method (tenant_id, id, app_id, customer_id, processor_name, processor_id, processor_customer_id, type,
        last4, brand, expiry_month, expiry_year, is_default, created_at)
      select ${row.tenant_id}::text, ${row.id}::text, ${row.app_id}::text, ${row.customer_id}::text, ${row.processor_name}::text,
        ${row.processor_id}::text, ${row.processor_customer_id}::text, ${row.type}::text, ${row.last4}::text, ${row.brand}::text,
        ${row.expiry_month}::integer, ${row.expiry_year}::integer, methods = 0, ${row.created_at}::timestamptz
      from had where methods < ${most}
      returning ${columns(sql)}`;
    return stored;
  },

  async delete({ tenant_id, id }: Pick<MethodRow, 'tenant_id' | 'id'>): Promise<void> {
    await sql`delete from billing.payment_method where tenant_id = ${tenant_id} and id = ${id}`;
  },

  /** Makes a method the customer's default, and the one that was it no longer. */
  async setDefault({ tenant_id, customer_id }: Owner, id: string): Promise<void> {
    await sql`
      update billing.payment_method set is_default = false
      where tenant_id = ${tenant_id} and customer_id = ${customer_id} and is_default and id <> ${id}`;
    await sql`update billing.payment_method set is_default = true where tenant_id = ${tenant_id} and id = ${id}`;
  },
});

const columns = (sql: Sql) => sql`
  tenant_id, id, app_id, customer_id, processor_name, processor_id, processor_customer_id, type, last4, brand, expiry_month,
  expiry_year, is_default, created_at`;
