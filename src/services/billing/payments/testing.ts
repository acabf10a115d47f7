import { createHmac, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { NotificationReceipt } from '../../../../generated/billing/types.ts';
import type { Clock } from '../../../db/clock.ts';
import type { Database } from '../../../db/index.ts';
import { readSettings } from '../../../lib/settings.ts';
import { noLimits } from '../money/charge-limits.ts';
import { createRevisions } from '../plans/revisions.ts';
import type { Provider } from '../providers/provider.ts';
import { settings } from '../settings.ts';
import { type Api, tools } from '../testing.ts';
import { createWriter } from '../writes.ts';
import type { PaymentDeps } from './deps.ts';
import { createLater } from './later.ts';
import type { Debtor } from './testing.store.ts';

export { type Debtor, debtor } from './testing.store.ts';

/** The secret with which the tests sign notifications. */
export const secret = 'whsec_of_the_tests';

/** The settings of a server that the tests notify. */
export const signing = {
  PLINTH_BILLING_CARD_PROVIDER_SECRETS: secret,
  PLINTH_BILLING_BILLING_PROVIDER_SECRETS: secret,
};

/** Short helpers for tests of payments. Requests act in the tenant of the debtor, or as the operator where only that may. */
export const payingTools = (api: Api, db: Pick<Database, 'sql'>) => {
  const own = tools(api);
  const { send } = own;
  return {
    ...own,

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
      const asked = { token: null, body, headers };
      const answer = await api.request('POST', '/billing/webhooks/card-provider', asked);
      if (answer.status !== 200) throw new Error(`${type}: ${answer.status} ${answer.text}`);
      return (answer.body as NotificationReceipt).handled;
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
    ...{
      chargeLimits: provider?.limitsOf ?? noLimits,
      revisions: createRevisions(),
      later: createLater(log),
      onFailed: async () => {},
    },
  };
}

/** The signature of the card provider for a body. */
export function cardSignature(body: string, now: number, key = secret): string {
  const seconds = Math.floor(now / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;
}
