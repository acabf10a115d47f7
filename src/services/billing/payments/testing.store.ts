import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';

/** A tenant that owes an invoice. */
export interface Debtor {
  readonly tenant: string;
  readonly customer: string;
  readonly subscription: string;
  readonly invoice: string;
}

interface Owing {
  readonly at: number;
  readonly amount?: number;
  readonly currency?: string;
  readonly status?: string;
  /** The tenant; by default a new one. */
  readonly tenant?: string;
  /** Whether the customer is billed. */
  readonly isBilled?: boolean;
}

/** Stores a tenant with a customer, and an invoice that it owes, as if they had come about long ago. */
export async function debtor(
  { sql }: Pick<Database, 'sql'>,
  { at, amount = 5_000, currency = 'usd', status = 'pending', isBilled = true, ...given }: Owing,
): Promise<Debtor> {
  const tenant = given.tenant ?? `t-${randomBytes(5).toString('hex')}`;
  const [customer, subscription, plan] = [newId('cus'), newId('sub'), newId('plan')];
  const [start, end, created_at] = [new Date(at), new Date(at + 1_000), new Date(at)];
  const owner = { tenant_id: tenant, app_id: 'default' };
  const stamps = { metadata: {}, created_at, updated_at: created_at };
  await sql`insert into billing.plan ${sql({
    ...{ app_id: 'default', id: plan, slug: plan, name: 'Pro', description: '', currency, status: 'active' },
    ...{ trial_days: 0, trial_requires_payment_method: false, revision: 1, ...stamps },
  })}`;
  await sql`insert into billing.customer ${sql({
    ...{ ...owner, id: customer, name: 'Acme', email: `${customer}@acme.example` },
    ...{ email_key: `${customer}@acme.example`, currency, tax_ids: [], ...stamps },
  })}`;
  await sql`insert into billing.subscription ${sql({
    ...{ ...owner, id: subscription, plan_id: plan, status: 'canceled', customer_id: customer },
    ...{
      starts_at: start,
      anchor: start,
      window_anchor: start,
      counts_from: start,
      billing_period: 'monthly',
      current_period_start: start,
    },
    ...{ current_period_end: end, ...stamps },
  })}`;
  const debt = { tenant, customer, subscription };
  return { ...debt, invoice: await owed({ sql }, debt, { at, amount, currency, status, isBilled }) };
}

async function owed(
  { sql }: Pick<Database, 'sql'>,
  { tenant, customer, subscription }: Omit<Debtor, 'invoice'>,
  { at, amount = 5_000, currency = 'usd', status = 'pending', isBilled = true }: Owing,
): Promise<string> {
  const [id, when] = [newId('inv'), new Date(at)];
  await sql`insert into billing.invoice ${sql({
    ...{ tenant_id: tenant, app_id: 'default', id, number: `INV-${id}`, subscription_id: subscription },
    ...{ customer_id: isBilled ? customer : null, status, origin: 'manual', currency },
    ...{
      subtotal: amount,
      discount_amount: 0,
      tax_amount: 0,
      total: amount,
      credit_applied: 0,
      amount_due: amount,
    },
    ...{ discounts: [], taxes: [], period_start: when, period_end: new Date(at + 1_000), finalized_at: when },
    ...{ metadata: {}, created_at: when, updated_at: when },
  })}`;
  return id;
}
