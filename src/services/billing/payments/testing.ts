import { createHmac, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { Clock } from '../../../db/clock.ts';
import type { Database } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { readSettings } from '../../../lib/settings.ts';
import { createRevisions } from '../plans/revisions.ts';
import type { Provider } from '../providers/provider.ts';
import { settings } from '../settings.ts';
import { type Api, tools } from '../testing.ts';
import { createWriter } from '../writes.ts';
import type { PaymentDeps } from './deps.ts';
import { createLater } from './later.ts';

/** The secret with which the tests sign notifications. */
export const secret = 'whsec_of_the_tests';

/** The settings of a server that the tests notify. */
export const signing = {
  PLINTH_BILLING_CARD_PROVIDER_SECRETS: secret,
  PLINTH_BILLING_BILLING_PROVIDER_SECRETS: secret,
};

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
    ...{ starts_at: start, anchor: start, billing_period: 'monthly', current_period_start: start },
    ...{ current_period_end: end, ...stamps },
  })}`;
  const debt = { tenant, customer, subscription };
  return { ...debt, invoice: await owed({ sql }, debt, { at, amount, currency, status, isBilled }) };
}

/** Stores a further invoice of a tenant. */
export async function owed(
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

/** Short helpers for tests of payments. Requests act in the tenant of the debtor, or as the operator where only that may. */
export const payingTools = (api: Api, db: Pick<Database, 'sql'>) => {
  const { send, refusal } = tools(api);
  return {
    send,
    refusal,

    /** Attaches a method by its token. */
    method: ({ tenant, customer }: Debtor, token = 'tok_visa', more: object = {}) =>
      send('POST', '/billing/payment-methods', { tenant, body: { customer_id: customer, token, ...more } }),

    pay: ({ tenant, invoice }: Debtor, more: object = {}) =>
      send('POST', '/billing/payments', { tenant, body: { invoice_id: invoice, ...more } }),

    payment: ({ tenant }: Debtor, id: string) => send('GET', `/billing/payments/${id}`, { tenant }),

    /** What the invoice and the customer's balance look like. */
    async account({ tenant, customer, invoice }: Debtor) {
      const [row] = await db.sql<{ status: string; paid: number; balance: number }[]>`
        select invoice.status, amount_paid as paid, balance
        from billing.invoice, billing.customer
        where invoice.tenant_id = ${tenant} and invoice.id = ${invoice}
          and customer.tenant_id = ${tenant} and customer.id = ${customer}`;
      return row;
    },

    /** The events about a subject, in their order. */
    async events(subject: string) {
      const rows = await db.sql<{ type: string }[]>`
        select type from billing.outbox where subject = ${subject} order by id`;
      return rows.map(({ type }) => type.replace('billing.', ''));
    },

    /** Sends an event as the card provider would, and returns whether it was handled. */
    async notify(
      type: string,
      object: object,
      { now, id = `evt_${randomBytes(8).toString('hex')}` }: Notified,
    ) {
      const body = JSON.stringify({ id, type, data: { object } });
      const headers = { 'CardProvider-Signature': cardSignature(body, now) };
      const { status, body: answer } = await api.request('POST', '/billing/webhooks/card-provider', {
        ...{ token: null, body, headers },
      });
      if (status !== 200) throw new Error(`${type}: ${status} ${JSON.stringify(answer)}`);
      return answer.handled as boolean;
    },
  };
};

interface Notified {
  readonly now: number;
  readonly id?: string;
}

/** The parts of a process that shares the database, for work in the background. */
export function processOn(db: Database, clock: Clock, provider: Provider | undefined): PaymentDeps {
  const log = pino({ level: 'silent' });
  return {
    ...{ db, clock, log, provider, write: createWriter({ db }), settings: readSettings(settings, {}) },
    ...{ revisions: createRevisions(), later: createLater(log), onFailed: async () => {} },
  };
}

/** The signature of the card provider for a body. */
export function cardSignature(body: string, now: number, key = secret): string {
  const seconds = Math.floor(now / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;
}
