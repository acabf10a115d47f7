/** Typical sequences of calls by front ends, and the data that they must find again. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createPlinth } from '../../../sdk/src/index.ts';
import { startMock, type Mock } from '../index.ts';

// The first request of a service prepares it.
vi.setConfig({ testTimeout: 30_000 });

let mock: Mock;
beforeAll(async () => {
  const only = ['agents', 'auth', 'billing', 'control', 'jobs', 'keys', 'webhooks'];
  mock = await startMock({ port: 0, host: '127.0.0.1', stateful: true, services: only, log: { info() {} } });
});
afterAll(() => mock.close());

let count = 0;
const caller = () =>
  createPlinth({ baseUrl: mock.url, token: 'any', headers: { 'x-tenant-id': `t-${(count += 1)}` } });

it('who signs up is a user with what was sent', async () => {
  const { accounts, users } = caller().auth;
  const { user } = await accounts.signup({
    body: { app_id: 'default', email: 'zoe@x.example', password: 'a long secret', name: 'Zoe' },
  });
  expect(user).toMatchObject({ email: 'zoe@x.example', name: 'Zoe' });
  expect(await users.get({ userId: user.id })).toEqual(user);
  expect((await users.list({ search: 'ZOE@' })).users.map(({ id }) => id)).toEqual([user.id]);
});

it('a subscription is canceled at its end, and its invoice is for its customer', async () => {
  const { customers, plans, subscriptions, invoices } = caller().billing;
  const customer = await customers.create({ body: { name: 'Beta', email: 'b@b.example' } });
  const plan = await plans.create({ body: { name: 'Solo', currency: 'eur' } });
  const body = { tenant_id: 'acme', customer_id: customer.id, plan_id: plan.id };
  const { id, current_period_end } = await subscriptions.create({ body });
  const invoice = await invoices.create({ body: { subscription_id: id } });
  expect(invoice.customer_id).toBe(customer.id);
  expect((await customers.invoices({ id: customer.id })).data.map((one) => one.id)).toEqual([invoice.id]);
  const canceled = await subscriptions.cancel({ id, body: {} });
  expect(canceled).toMatchObject({ id, cancel_at: current_period_end });
  expect(await subscriptions.get({ id })).toMatchObject(canceled);
});

it('a key is rotated and revoked for the reason that was given', async () => {
  const { keys } = caller().keys;
  const { key } = await keys.create({ body: { name: 'Mine' } });
  const rotated = await keys.rotate({ keyId: key.id, body: { reason: 'scheduled' } });
  expect(rotated.key).toMatchObject({ id: key.id, name: 'Mine' });
  expect(rotated.rotation).toMatchObject({ key_id: key.id, reason: 'scheduled' });
  expect(await keys.rotations({ keyId: key.id })).toEqual([rotated.rotation]);
  expect(await keys.revoke({ keyId: key.id, body: { reason: 'leaked' } })).toMatchObject({
    state: 'revoked',
    revoke_reason: 'leaked',
  });
});

it('the runs of an agent are its own, and are found again', async () => {
  const { agents, runs } = caller().agents;
  await agents.create({ body: { name: 'clerk', system_prompt: 'Be brief.' } });
  const result = await agents.run({ name: 'clerk', body: { input: 'Hi' } });
  const run = await runs.get({ id: result.run_id });
  expect(run).toMatchObject({ agent_name: 'clerk', input: 'Hi', output: result.output, state: 'completed' });
  const events: { event: string; data: unknown }[] = [];
  for await (const event of agents.stream({ name: 'clerk', body: { input: 'Hi' } })) events.push(event);
  const [first, last] = [events[0], events.at(-1)];
  const [streamed] = await agents.listRuns({ name: 'clerk' });
  expect(first).toMatchObject({ event: 'run_started', data: { run_id: streamed!.id, agent_name: 'clerk' } });
  expect(last).toMatchObject({ event: 'done', data: { run_id: streamed!.id } });
  expect(streamed!.id).not.toBe(run.id);
});

it('a record counts its versions, and refuses a change of another one', async () => {
  const { instances } = caller().control;
  const instanceID = 'inst_01h455vb4pex5vsknk084sn02r';
  const change = (version: string) =>
    instances.update({ instanceID, 'If-Match': version, body: { name: 'Shop' } });
  await expect(change('"2"')).rejects.toMatchObject({ status: 412, message: 'instance was changed' });
  expect(await change('"3"')).toMatchObject({ name: 'Shop', version: 4 });
  await expect(change('"3"')).rejects.toMatchObject({ status: 412 });
});

it('jobs are found by all of their tags, and belong to the tenant', async () => {
  const { jobs } = caller().jobs;
  const make = async (...tags: string[]) => await jobs.create({ body: { name: 'import.row', tags } });
  const [both, one, none] = [await make('import', 'may'), await make('import'), await make()];
  const found = async (...tag: string[]) =>
    (await jobs.list({ name: 'import.row', tag })).map(({ id }) => id);
  expect(await found('import')).toEqual([one.id, both.id]);
  expect(await found('may', 'import')).toEqual([both.id]);
  expect(await found()).toEqual([none.id, one.id, both.id]);
  expect(none.scope_org_id).toBe(`t-${count}`);
});

it('an endpoint is known by the id that its tenant gave it', async () => {
  const { deliveries, endpoints } = caller().webhooks;
  const body = { uid: 'ledger', url: 'https://x.example/hook', event_types: ['invoice.*'] };
  const { id } = await endpoints.create({ body });
  expect(await endpoints.get({ id: 'ledger' })).toMatchObject({ id, uid: 'ledger' });
  await expect(endpoints.create({ body })).rejects.toMatchObject({
    status: 409,
    message: 'endpoint uid already exists: ledger',
  });
  const test = await endpoints.test({ id: 'ledger' });
  expect(test.endpoint_id).toBe(id);
  const all = await deliveries.listAll();
  expect(all.map((one) => one.id)).toContain(test.id);
  expect(all.length).toBeGreaterThan(1);
  expect(await deliveries.listAll({ endpoint_id: 'ledger' })).toEqual([test]);
  expect(await deliveries.list({ id: 'ledger' })).toEqual([test]);
});
