/** Calls all services through the package's own client, against the mock: each kind of call wherever the contract has it. */
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { startMock, type Mock } from '../../src/mock/index.ts';
import { createPlinth, isPlinthError, type Plinth } from '../src/index.ts';
import type * as Agents from '../src/services/agents/index.ts';
import type * as Billing from '../src/services/billing/index.ts';
import { all, failureOf } from './things.ts';

let mock: Mock;
let plinth: Plinth;
beforeAll(async () => {
  mock = await startMock({ host: '127.0.0.1', port: 0, log: { info() {} } });
  plinth = createPlinth({ baseUrl: mock.url, token: 'any', retries: 0 });
});
afterAll(() => mock.close());

describe('the client and the mock', () => {
  it('list each in its way: an array, envelopes by offset, by header and by cursor', async () => {
    const lists = {
      agents: plinth.agents.agents.list(),
      audit: plinth.audit.events.list(),
      auth: plinth.auth.users.list(),
      authz: plinth.authz.roles.list(),
      billing: plinth.billing.invoices.list(),
      control: plinth.control.instances.list(),
      gateway: plinth.gateway.routes.list(),
      jobs: plinth.jobs.queues.list(),
      keys: plinth.keys.keys.list(),
      retrieval: plinth.retrieval.documents.list({ collectionId: 'col_01m7w5q0y6fj0r5dn2b3zzjk8a' }),
      safety: plinth.safety.scans.list(),
      storage: plinth.storage.buckets.list(),
      sync: plinth.sync.nodes.list(),
      webhooks: plinth.webhooks.endpoints.list(),
    };
    expect(Object.keys(lists)).toEqual(Object.keys(plinth));
    for (const [service, list] of Object.entries(lists))
      expect((await all<object>(list)).length, service).toBeGreaterThan(0);
  });

  it('answer an envelope whole when it is awaited', async () => {
    const { data, pagination } = await plinth.billing.plans.list();
    expectTypeOf(data).toEqualTypeOf<Billing.Plan[]>();
    expect(pagination.total).toBeGreaterThanOrEqual(data.length);
    expect(await plinth.control.tenants.list()).toMatchObject({ items: [{ id: expect.any(String) }] });
  });

  it('tell apart the events of a run by their names', async () => {
    const names = new Set<string>();
    for await (const event of plinth.agents.agents.stream({
      name: 'support',
      body: { input: 'Where is my order?' },
    })) {
      names.add(event.event);
      if (event.event === 'token') expectTypeOf(event.data).toEqualTypeOf<Agents.Token>();
      if (event.event === 'done') break;
    }
    expect(names.size).toBeGreaterThan(0);
  });

  it('answer the events so far as JSON', async () => {
    const events = await plinth.agents.runs.events({ id: 'arun_01m7w4n5e0f7drekxj50y51wjg' });
    expectTypeOf(events).toEqualTypeOf<Agents.RunEventList>();
    expect(events[0]).toMatchObject({ id: expect.any(Number), type: expect.any(String) });
  });

  it('exchange files', async () => {
    const place = { bucket: 'photos', key: '2026/cat.jpg' };
    const body = new Blob(['bytes'], { type: 'image/jpeg' });
    expect(await plinth.storage.objects.put({ ...place, body })).toMatchObject({ key: '2026/cat.jpg' });
    const response = await plinth.storage.objects.get(place);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    expect((await plinth.storage.objects.head(place)).status).toBe(200);
  });

  it('exchange forms, pages and redirects', async () => {
    const request = { grant_type: 'client_credentials' as const };
    expect(await plinth.auth.oauth.token({ body: request })).toMatchObject({
      access_token: expect.any(String),
    });
    const page = await plinth.auth.pages.forgotPassword();
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  });

  it('answer each service’s error as its own', async () => {
    const failing = { headers: { Prefer: 'code=404' } };
    const call = plinth.billing.plans.get({ plan: 'pro' }, failing);
    const failure = await failureOf(call);
    if (!isPlinthError(failure, plinth.billing.plans.get)) throw failure;
    expectTypeOf(failure.body).toEqualTypeOf<Billing.Error>();
    expect(failure).toMatchObject({ status: 404, operation: 'billing.plans.get' });
    expect(failure.body.error.message).toBe(failure.message);
  });

  it('need no credentials where the contract needs none', async () => {
    const anyone = createPlinth({ baseUrl: mock.url, retries: 0 });
    expect(await anyone.auth.discovery.jwks()).toMatchObject({ keys: expect.any(Array) });
    expect(await failureOf(anyone.auth.users.list())).toMatchObject({ status: 401 });
  });
});
