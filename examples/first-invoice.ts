import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createPlinth } from '@plinth/sdk';

const baseUrl = process.env.PLINTH_URL ?? 'http://127.0.0.1:4000';
const { billing } = createPlinth({ baseUrl, token: process.env.PLINTH_ROOT_TOKEN ?? '' });
const tenant_id = `acme-${Date.now()}`;

// 49 dollars a month, and half a cent for each call beyond 10,000.
const plan = await billing.plans.create({
  body: {
    name: `Pro for ${tenant_id}`,
    currency: 'usd',
    features: [{ key: 'api_calls', name: 'API calls' }],
    pricing: {
      base_amount: { amount: 4900, currency: 'usd' },
      tiers: [
        { feature_key: 'api_calls', up_to: 10_000 },
        { feature_key: 'api_calls', up_to: -1, unit_amount_decimal: '0.5' },
      ],
    },
  },
});
const customer = await billing.customers.create({
  body: { tenant_id, name: 'Acme GmbH', email: 'billing@acme.example' },
});
const subscription = await billing.subscriptions.create({ body: { tenant_id, plan_id: plan.id } });

// Each event counts once: sent again with its key, it is refused as a duplicate.
await billing.meter.record({
  body: { tenant_id, feature_key: 'api_calls', quantity: 10_200, idempotency_key: 'import-1' },
});

const draft = await billing.invoices.create({ body: { subscription_id: subscription.id } });
for (const { description, amount } of draft.line_items) console.log(amount.display.padStart(7), description);
const invoice = await billing.invoices.finalize({ invoice: draft.id });
console.log(invoice.total.display.padStart(7), 'in all,', invoice.status);

// The built-in provider takes any token for a card that pays.
const card = await billing.paymentMethods.create({ body: { customer_id: customer.id, token: 'tok_visa' } });
await billing.payments.create({ body: { invoice_id: invoice.id, payment_method_id: card.id } });
while ((await billing.invoices.get({ invoice: invoice.id })).status !== 'paid') await delay(100);
console.log('paid with', card.brand, card.last4);

const pdf = await billing.invoices.pdf({ invoice: invoice.id });
await writeFile('invoice.pdf', new Uint8Array(await pdf.arrayBuffer()));
console.log('see invoice.pdf');
