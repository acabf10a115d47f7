import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['webhooks'] });
  api = tools(server);
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('webhooks', 'test')`;
});
afterAll(() => server.close());

const patterns = async ({ id }: { id: string }) => {
  const rows = await server.db.sql<{ pattern: string }[]>`
    select pattern from webhooks.subscription where endpoint_id = ${id} order by pattern`;
  return rows.map(({ pattern }) => pattern);
};
const events = async ({ id }: { id: string }) => {
  const rows = await server.db.sql<{ type: string }[]>`
    select type from webhooks.outbox where subject = ${id} order by id`;
  return rows.map(({ type }) => type.replace('webhooks.endpoint.', ''));
};

describe('update', () => {
  it('changes what is present and keeps the rest; what was read can be written back', async () => {
    const { secret: _, ...endpoint } = await api.endpoint({
      rate_limit: 5,
      metadata: { a: 1 },
      timeout: '2s',
    });
    const update = (body: object) => api.send('PUT', `/endpoints/${endpoint.id}`, { body });
    const changed = await update({ description: 'Changed', event_types: ['b', 'a', 'b'] });
    const expected = {
      ...endpoint,
      description: 'Changed',
      event_types: ['b', 'a'],
      updated_at: changed.updated_at,
    };
    expect(changed).toEqual(expected);
    expect(await patterns(endpoint)).toEqual(['a', 'b']);
    expect(await update(changed)).toEqual(changed);
    expect(await update({ rate_limit: null, metadata: null, timeout: null })).toMatchObject({
      ...{ rate_limit: 0, metadata: {}, timeout: '15s' },
    });
    expect(await events(endpoint)).toEqual(['created', 'updated', 'updated']);
  });

  it('with `enabled` has the effects of enabling and disabling', async () => {
    const endpoint = await api.endpoint();
    const update = (enabled: boolean) => api.send('PUT', `/endpoints/${endpoint.id}`, { body: { enabled } });
    expect(await update(false)).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    expect(await patterns(endpoint)).toEqual([]);
    expect(await update(false)).toMatchObject({ enabled: false });
    expect(await update(true)).toMatchObject({ enabled: true, disabled_reason: null });
    expect(await patterns(endpoint)).toEqual(['*']);
    expect(await events(endpoint)).toEqual(['created', 'disabled', 'enabled']);
  });

  it('of a disabled endpoint subscribes it to nothing', async () => {
    const endpoint = await api.endpoint({ enabled: false });
    await api.send('PUT', `/endpoints/${endpoint.id}`, { body: { event_types: ['a.*'] } });
    expect(await patterns(endpoint)).toEqual([]);
    await api.send('PUT', `/endpoints/${endpoint.id}`, { body: { event_types: ['b.*'], enabled: true } });
    expect(await patterns(endpoint)).toEqual(['b.*']);
  });

  it('of the address resets its health, and another one does not', async () => {
    const endpoint = await api.endpoint();
    await fail(endpoint);
    const put = (body: object) => api.send('PUT', `/endpoints/${endpoint.id}`, { body });
    expect((await put({ description: 'x', url: endpoint.url })).health).toMatchObject({ state: 'open' });
    expect((await put({ url: 'https://hooks.acme.example/new' })).health).toMatchObject(healthy);
    const [lane] = await server.db
      .sql`select window_size from webhooks.lane where endpoint_id = ${endpoint.id}`;
    expect(lane).toEqual({ window_size: 1 });
  });

  it('409 for a uid that another endpoint has', async () => {
    const [{ id }] = await Promise.all([api.endpoint(), api.endpoint({ uid: 'first' })]);
    const refusal = await api.refusal('PUT', `/endpoints/${id}`, { body: { uid: 'first' } });
    expect(refusal).toEqual([409, 'endpoint uid already exists: first']);
    expect(await api.send('PUT', `/endpoints/${id}`, { body: { uid: 'second' } })).toMatchObject({
      uid: 'second',
    });
    expect(await api.send('PUT', '/endpoints/second', { body: { uid: null } })).toMatchObject({
      id,
      uid: null,
    });
  });
});

/** Lets the receiver of an endpoint have failed for long. */
const fail = ({ id }: { readonly id: string }) => server.db.sql`
  insert into webhooks.lane (
    endpoint_id, tenant_id, consecutive_failures, failing_since, retry_at, breaker, openings, window_size, last_success_at
  )
  values (${id}, 'default', 12, now(), now() + interval '1 hour', 'open', 2, 5, '2026-11-20T09:00:00Z')`;
const healthy = {
  ...{ state: 'healthy', consecutive_failures: 0, failing_since: null, retry_at: null },
  last_success_at: '2026-11-20T09:00:00.000Z',
};

describe('enable and disable', () => {
  it('change an endpoint once, and enabling resets its health', async () => {
    const endpoint = await api.endpoint({ event_types: ['none'] });
    const patch = (verb: string) => api.send('PATCH', `/endpoints/${endpoint.id}/${verb}`);
    const disabled = await patch('disable');
    expect(disabled).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    expect(await patch('disable')).toEqual(disabled);
    await fail(endpoint);
    expect((await api.getEndpoint(endpoint.id)).health).toMatchObject({
      state: 'open',
      consecutive_failures: 12,
    });
    expect(await patch('enable')).toMatchObject({ enabled: true, disabled_reason: null, health: healthy });
    expect(await events(endpoint)).toEqual(['created', 'disabled', 'enabled']);
  });
});

describe('delete', () => {
  it('makes the endpoint unknown, wipes its secrets and ends its subscriptions', async () => {
    const endpoint = await api.endpoint({ headers: { cookie: 'c' } });
    await api.send('DELETE', `/endpoints/${endpoint.id}`);
    for (const [method, path] of [
      ...(['GET', 'DELETE'] as const).map((method) => [method, ''] as const),
      ...(['enable', 'disable'] as const).map((verb) => ['PATCH', `/${verb}`] as const),
      ...[['GET', '/secret'] as const, ['POST', '/rotate-secret'] as const, ['POST', '/test'] as const],
    ])
      expect(await api.refusal(method, `/endpoints/${endpoint.id}${path}`)).toEqual([
        404,
        'endpoint not found',
      ]);
    expect(await patterns(endpoint)).toEqual([]);
    const [row] = await server.db.sql`
      select sealed_headers, headers, (select count(*)::int from webhooks.endpoint_secret as s where s.endpoint_id = e.id) as secrets
      from webhooks.endpoint as e where id = ${endpoint.id}`;
    expect(row).toEqual({ sealed_headers: null, headers: {}, secrets: 0 });
    expect(await events(endpoint)).toEqual(['created', 'deleted']);
  });
});

describe('test', () => {
  it('makes one delivery to this endpoint only', async () => {
    await api.type('tested.type', { example: { id: 'x' } });
    const [endpoint] = await Promise.all([
      api.endpoint({ event_types: ['none'], enabled: false }),
      api.endpoint(),
    ]);
    const answer = await server.request('POST', `/webhooks/endpoints/${endpoint.id}/test`, {
      body: { event_type: 'tested.type' },
    });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        endpoint_id: endpoint.id,
        event_type: 'tested.type',
        state: 'pending',
        attempt_count: 0,
        max_attempts: 1,
      },
    });
    const [event] = await server.db.sql`
      select data, delivery_count from webhooks.event where id = ${answer.body.event_id as string}`;
    expect(event).toEqual({ data: { id: 'x' }, delivery_count: 1 });
    expect(await api.send('POST', `/endpoints/${endpoint.id}/test`)).toMatchObject({
      event_type: 'webhook.test',
    });
  });
});
