/** Set-up for the tests of payments: invoices, customers and payments, made through the SDK on the mock and on the server. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Customer, Invoice, Payment, PaymentMethod } from '../../generated/billing/types.ts';
import type { Api, Credential, Tenant } from '../harness.ts';
import { newName } from './offers.ts';

/** Well-formed ids that name nothing. */
export const missing = {
  customer: 'cus_01h455vb4pex5vsknk084sn0zz',
  invoice: 'inv_01h455vb4pex5vsknk084sn0zz',
  method: 'pm_01h455vb4pex5vsknk084sn0zz',
  payment: 'pay_01h455vb4pex5vsknk084sn0zz',
} as const;

/** The secret with which the server that is tested checks notifications. */
const secret = 'whsec_plinth_test';

/** Once an app has tax rates, as other tests make them, an invoice needs a country, and no rate is for this one. */
export const untaxed = { country: 'AQ' };

type Caller = Pick<Credential, 'plinth'>;

/** A tenant that owes an invoice. */
export interface Payer {
  readonly tenant: Tenant;
  readonly customer: Customer;
  readonly invoice: Invoice;
}

/** A new tenant that owes an invoice of 49 dollars. */
export async function payer(api: Api): Promise<Payer> {
  const tenant = api.tenant();
  const name = newName();
  const { billing } = tenant.plinth;
  const pricing = { base_amount: { amount: 4_900, currency: 'usd' } };
  const plan = await api.operator().plinth.billing.plans.create({ body: { name, currency: 'usd', pricing } });
  const customer = await billing.customers.create({
    body: { name, email: `${name}@acme.example`, billing_address: untaxed },
  });
  const subscription = await billing.subscriptions.create({
    body: { tenant_id: tenant.id, plan_id: plan.id },
  });
  const draft = await billing.invoices.create({ body: { subscription_id: subscription.id } });
  const invoice = await api.operator().plinth.billing.invoices.finalize({ invoice: draft.id });
  return { tenant, customer, invoice };
}

/**
 * Leaves one thing of every kind that a customer has in an app, because the examples name another tenant, and returns their ids.
 * None of them changes by itself.
 */
export async function leaveBills(root: Caller, operator: Caller, tenant_id: string): Promise<string[]> {
  const name = newName();
  const { billing } = root.plinth;
  const pricing = { base_amount: { amount: 4_900, currency: 'usd' } };
  const features = [{ key: 'api_calls', limit: 1_000 }];
  const { id: plan_id } = await operator.plinth.billing.plans.create({
    body: { name, currency: 'usd', pricing, features },
  });
  const customer = await billing.customers.create({
    body: { name, email: `${name}@acme.example`, billing_address: untaxed },
  });
  const subscription = await billing.subscriptions.create({ body: { tenant_id, plan_id } });
  const used = await billing.meter.record({ body: { feature_key: 'api_calls' } });
  const draft = await billing.invoices.create({ body: { subscription_id: subscription.id } });
  const invoice = await operator.plinth.billing.invoices.finalize({ invoice: draft.id });
  const method = await billing.paymentMethods.create({
    body: { customer_id: customer.id, token: 'tok_visa' },
  });
  const payment = await billing.payments.create({ body: { invoice_id: invoice.id } });
  return [plan_id, customer.id, subscription.id, used.id, invoice.id, method.id, payment.id];
}

/** Attaches a payment method to the customer. */
export const attached = async ({ tenant, customer }: Payer, token = 'tok_visa'): Promise<PaymentMethod> =>
  await tenant.plinth.billing.paymentMethods.create({ body: { customer_id: customer.id, token } });

/** Pays the invoice without a method, so that the payment remains open. */
export const open = async ({ tenant, invoice }: Payer, more: object = {}): Promise<Payment> =>
  await tenant.plinth.billing.payments.create({ body: { invoice_id: invoice.id, ...more } });

/** Pays the invoice, and has the provider say that the money has arrived. */
export async function paid(api: Api, one: Payer): Promise<Payment> {
  const payment = await open(one);
  await notify(api, 'payment_intent.succeeded', { id: payment.processor_id ?? '' });
  return await one.tenant.plinth.billing.payments.get({ id: payment.id });
}

/** Sends a signed event as the card provider would. */
export async function notify(api: Api, type: string, object: object) {
  return await notifications(api.tenant().anonymous()).cardProvider(cardEvent(type, object));
}

export const notifications = ({ plinth }: Credential) => plinth.billing.notifications;

/** A signed event of the card provider, as text and as the SDK sends it. */
export function cardNotification(type: string, object: object) {
  const body = JSON.stringify({ id: `evt_${randomBytes(8).toString('hex')}`, type, data: { object } });
  return { 'CardProvider-Signature': signature(body, 't', '.', ',v1='), body };
}
export function cardEvent(type: string, object: object) {
  const { body, ...headers } = cardNotification(type, object);
  return { ...headers, body: new Blob([body]) };
}

/** A signed event of the billing provider, as text and as the SDK sends it. */
export function billingNotification(event_type: string, data: object) {
  const body = JSON.stringify({ event_id: `evt_${randomBytes(8).toString('hex')}`, event_type, data });
  return { 'BillingProvider-Signature': signature(body, 'ts', ':', ';h1='), body };
}
export function billingEvent(event_type: string, data: object) {
  const { body, ...headers } = billingNotification(event_type, data);
  return { ...headers, body: new Blob([body]) };
}

function signature(body: string, time: string, joint: string, name: string): string {
  const seconds = Math.floor(Date.now() / 1_000);
  const hash = createHmac('sha256', secret).update(`${seconds}${joint}${body}`).digest('hex');
  return `${time}=${seconds}${name}${hash}`;
}
