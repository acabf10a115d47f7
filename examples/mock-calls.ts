import { createPlinth, isPlinthError } from '@plinth/sdk';

// The mock requires credentials, as the server does, but accepts any.
const plinth = createPlinth({ baseUrl: 'http://127.0.0.1:4010', token: 'any' });

// A typed call. With --stateful, created records can be read, listed, changed and deleted.
const { id } = await plinth.billing.customers.create({
  body: { name: 'Globex Ltd', email: `office+${Date.now()}@globex.example` },
});
const customer = await plinth.billing.customers.get({ id });
console.log(customer.name, customer.balance.display);

// A list, read to its end, page after page.
for await (const { name } of plinth.billing.customers.list({ limit: 1 })) console.log('customer', name);

// A failure that a page has to show, requested with Prefer.
try {
  const body = { invoice_id: 'inv_01khgbwb6gfcvt5fwr9s2r6n64' };
  await plinth.billing.payments.create({ body }, { headers: { Prefer: 'code=402' } });
} catch (error) {
  if (!isPlinthError(error)) throw error;
  console.log(error.status, error.code, '-', error.message);
}

// A stream: the type of an event's data follows from its name.
const input = 'Where is my order?';
for await (const event of plinth.agents.agents.stream({ name: 'support', body: { input } })) {
  if (event.event === 'token') console.log('token', event.data.content);
  if (event.event === 'done') console.log('done', event.data.output);
}
