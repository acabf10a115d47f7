import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../generated/webhooks/types.ts';
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

const url = 'https://hooks.acme.example/plinth';
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

describe('create', () => {
  it('fills in what is absent, and shows the secret once', async () => {
    const { secret, ...endpoint } = await api.endpoint({ event_types: ['invoice.*', 'a', 'invoice.*'] });
    expect(endpoint).toEqual({
      ...{ id: endpoint.id, uid: null, tenant_id: 'default', app_id: 'default', url, description: '' },
      ...{
        event_types: ['invoice.*', 'a'],
        channels: [],
        ordered: false,
        headers: {},
        rate_limit: 0,
        metadata: {},
      },
      ...{
        enabled: true,
        disabled_reason: null,
        payload_format: 'standard',
        max_concurrency: 20,
        timeout: '15s',
      },
      ...{ max_attempts: 10, created_at: endpoint.created_at, updated_at: endpoint.created_at },
      health: {
        state: 'healthy',
        consecutive_failures: 0,
        failing_since: null,
        retry_at: null,
        last_success_at: null,
      },
    });
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    expect(await api.getEndpoint(endpoint.id)).toEqual(endpoint);
    expect(await patterns(endpoint)).toEqual(['a', 'invoice.*']);
    expect(await events(endpoint)).toEqual(['created']);
  });

  it('takes all settings and stores the normal form of the URL', async () => {
    const body = {
      ...{
        uid: 'accounting',
        description: 'Accounting',
        channels: ['b', 'a', 'b'],
        ordered: true,
        rate_limit: 50,
      },
      ...{ metadata: { team: 'finance' }, payload_format: 'data', max_concurrency: 1, timeout: '0h0m1.5s' },
      ...{ max_attempts: 1, headers: { 'X-Region': 'eu' }, url: 'HTTPS://Hooks.Acme.Example:443/a/../b?x=ä' },
    };
    const { secret: _, ...endpoint } = await api.endpoint(body, { tenant: 'acme' });
    expect(endpoint).toMatchObject({
      ...body,
      ...{
        url: 'https://hooks.acme.example/b?x=%C3%A4',
        timeout: '1.5s',
        channels: ['b', 'a'],
        tenant_id: 'acme',
      },
    });
    expect(await api.getEndpoint('accounting', { tenant: 'acme' })).toEqual(endpoint);
  });

  it('may be given a secret', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const { id } = await api.endpoint({ secret });
    expect(await api.send('GET', `/endpoints/${id}/secret`)).toEqual({ secret });
  });

  it('disabled, no event finds it until it is enabled', async () => {
    const endpoint = await api.endpoint({ enabled: false });
    expect(endpoint).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    expect(await patterns(endpoint)).toEqual([]);
    await api.send('PATCH', `/endpoints/${endpoint.id}/enable`);
    expect(await patterns(endpoint)).toEqual(['*']);
  });

  it.each<[string, object]>([
    ['url', { url: 'hooks.acme.example' }],
    ['url: must not carry a user name or password', { url: 'https://user:x@acme.example/' }],
    ['url: must not have a fragment', { url: 'https://acme.example/#x' }],
    ['url: must not name port 25', { url: 'https://acme.example:25/' }],
    ['url', { url: `https://acme.example/${'x'.repeat(2048)}` }],
    ['url: its normal form', { url: `https://acme.example/${'ä'.repeat(1_000)}` }],
    ['url', { url: 'https://acme.example/\0' }],
    ['event_types', { event_types: [] }],
    ['event_types', { event_types: Array(101).fill('a') }],
    ...['*.paid', 'in*', 'a.*.b', 'a.**', '.*', '**', ''].map((pattern): [string, object] => [
      'event_types[0]',
      { event_types: [pattern] },
    ]),
    ['channels[0]', { channels: [' '] }],
    ['uid', { uid: 'ep_mine' }],
    ['headers: host is reserved', { headers: { host: 'x' } }],
    ['headers', { headers: { 'x-a': 'a\r\nx-b: c' } }],
    ['headers', { headers: { 'x-a': 'a\0' } }],
    ['headers: a name must be', { headers: { 'x\r\ny': 'a' } }],
    ['headers: X-A is given more than once', { headers: { 'x-a': '1', 'X-A': '2' } }],
    ['headers: cookie has no stored value to keep', { headers: { cookie: '********' } }],
    ['headers', { headers: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x-${at}`, 'x'])) }],
    ['rate_limit', { rate_limit: 10_001 }],
    ['max_concurrency', { max_concurrency: 0 }],
    ['timeout: must be from 1s to 30s', { timeout: '999ms' }],
    ['timeout: must be from 1s to 30s', { timeout: '31s' }],
    ['max_attempts', { max_attempts: 21 }],
    ['payload_format', { payload_format: 'cloudevents' }],
    ['secret', { secret: 'whsec_short' }],
    ['secret: must be whsec_ and the base64 of 24 to 64 bytes', { secret: `whsec_${'A'.repeat(32)}=` }],
    ['metadata: at most 5 levels', { metadata: { a: { b: { c: { d: { e: {} } } } } } }],
    ['metadata: at most 8192 bytes', { metadata: { a: 'x'.repeat(8_192) } }],
    ['metadata: keys must have 1 to 64 characters', { metadata: { '': 1 } }],
  ])('400 names %s', async (message, body) => {
    const [status, error] = await api.refusal('POST', '/endpoints', {
      body: { url, event_types: ['*'], ...body },
    });
    expect([status, error]).toEqual([400, expect.stringContaining(message)]);
  });

  it('409 for a uid that is in use in the tenant; after a deletion it is free', async () => {
    const body = { uid: 'taken', url, event_types: ['*'] };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('POST', '/webhooks/endpoints', { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    expect(await api.refusal('POST', '/endpoints', { body })).toEqual([
      409,
      'endpoint uid already exists: taken',
    ]);
    await api.endpoint({ uid: 'taken' }, { tenant: 'acme' });
    await api.send('DELETE', '/endpoints/taken');
    await api.endpoint({ uid: 'taken' });
  });
});

it('a tenant has at most as many endpoints as the settings say, however many are created at once', async () => {
  const small = await testServer({ services: ['webhooks'], env: { PLINTH_WEBHOOKS_MAX_ENDPOINTS: '7' } });
  try {
    const own = tools(small);
    const body = { url, event_types: ['*'] };
    const create = () => small.request('POST', '/webhooks/endpoints', { body, tenant: 'acme' });
    const answers = await Promise.all(Array.from({ length: 30 }, create));
    const made = answers.filter(({ status }) => status === 201);
    expect([made.length, answers.filter(({ status }) => status === 409).length]).toEqual([7, 23]);
    expect(await own.refusal('POST', '/endpoints', { body, tenant: 'acme' })).toEqual([
      409,
      'tenant has 7 endpoints',
    ]);
    await own.endpoint({}, { tenant: 'other' });
    await own.send('DELETE', `/endpoints/${(made[0]!.body as Endpoint).id}`, { tenant: 'acme' });
    expect((await Promise.all([create(), create()])).map(({ status }) => status).sort()).toEqual([201, 409]);
  } finally {
    await small.close();
  }
});

describe('a server that outsiders reach', () => {
  let guarded: TestServer;
  beforeAll(async () => {
    guarded = await testServer({ services: ['webhooks'], allowPrivateTargets: false });
  });
  afterAll(() => guarded.close());

  it.each([
    ...[
      'https://127.0.0.1/',
      'https://0x7f.1/',
      'https://2130706433/',
      'https://①②⑦.⓪.⓪.①/',
      'https://0177.0.0.1/',
    ],
    ...[
      'https://10.1/',
      'https://169.254.169.254/',
      'https://168.63.129.16/',
      'https://[::1]/',
      'https://[fd00::1]/',
    ],
    ...['https://[::ffff:10.0.0.1]/', 'https://[64:ff9b::a00:1]/', 'https://100.64.0.1/', 'https://0.0.0.0/'],
  ])('does not take %s', async (target) => {
    const body = { url: target, event_types: ['*'] };
    const refusal = await tools(guarded).refusal('POST', '/endpoints', { body });
    expect(refusal).toEqual([400, 'url: address not allowed']);
  });

  it('does not take plain http, also as a change', async () => {
    const own = tools(guarded);
    const body = { url: 'http://acme.example/', event_types: ['*'] };
    expect(await own.refusal('POST', '/endpoints', { body })).toEqual([400, 'url: must be an https URL']);
    const { id } = await own.endpoint();
    const change = await own.refusal('PUT', `/endpoints/${id}`, { body: { url: 'https://[::1]/' } });
    expect(change).toEqual([400, 'url: address not allowed']);
  });
});
