import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../generated/webhooks/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['webhooks'] });
  api = tools(server);
});
afterAll(() => server.close());

const absent = 'ep_01h455vb4pex5vsknk084sn02q';
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

describe('secret headers', () => {
  const authorization = 'Bearer s3cr3t-value';

  it('are masked wherever they could be seen, and sealed in the table', async () => {
    const endpoint = await api.endpoint({ headers: { Authorization: authorization, 'x-region': 'eu' } });
    expect(endpoint.headers).toEqual({ Authorization: '********', 'x-region': 'eu' });
    const [row] = await server.db.sql`
      select (select endpoint::text from webhooks.endpoint where id = ${endpoint.id}) as stored,
        (select string_agg(outbox::text, '') from webhooks.outbox where subject = ${endpoint.id}) as told,
        (select string_agg(secret::text, '') from webhooks.endpoint_secret as secret where endpoint_id = ${endpoint.id}) as secrets`;
    for (const text of Object.values(row!)) {
      expect(text).not.toContain('s3cr3t');
      expect(text).not.toContain(endpoint.secret);
    }
    expect(row!['told']).not.toContain('headers');
  });

  it('keep their stored value when the mask is sent back', async () => {
    const {
      id,
      secret: _,
      ...rest
    } = await api.endpoint({ headers: { Authorization: authorization, 'x-region': 'eu' } });
    const sealed = async () =>
      (await server.db.sql`select sealed_headers from webhooks.endpoint where id = ${id}`)[0]![
        'sealed_headers'
      ] as Buffer | null;
    const update = (headers: object) => api.send('PUT', `/endpoints/${id}`, { body: { ...rest, headers } });
    expect(await update({ authorization: '********' })).toMatchObject({
      headers: { authorization: '********' },
    });
    const { createSealing } = await import('../sealing.ts');
    const { testSealer } = await import('../../../testing/server.ts');
    const opened = async () =>
      createSealing(testSealer).openHeaders({ tenant_id: 'default', id }, (await sealed())!);
    expect(await opened()).toEqual({ authorization });
    await update({ authorization: 'Bearer other' });
    expect(await opened()).toEqual({ authorization: 'Bearer other' });
    expect((await update({})).headers).toEqual({});
    expect(await sealed()).toBeNull();
    const refusal = await api.refusal('PUT', `/endpoints/${id}`, {
      body: { headers: { authorization: '********' } },
    });
    expect(refusal).toEqual([400, 'headers: authorization has no stored value to keep']);
  });
});

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

describe('enable and disable', () => {
  it('change an endpoint once, and enabling resets its health', async () => {
    const endpoint = await api.endpoint();
    const patch = (verb: string) => api.send('PATCH', `/endpoints/${endpoint.id}/${verb}`);
    const disabled = await patch('disable');
    expect(disabled).toMatchObject({ enabled: false, disabled_reason: 'manual' });
    expect(await patch('disable')).toEqual(disabled);
    await server.db.sql`
      insert into webhooks.lane (endpoint_id, tenant_id, consecutive_failures, failing_since, retry_at, breaker, openings, last_success_at)
      values (${endpoint.id}, 'default', 12, now(), now() + interval '1 hour', 'open', 2, '2026-11-20T09:00:00Z')`;
    expect((await api.getEndpoint(endpoint.id)).health).toMatchObject({
      state: 'open',
      consecutive_failures: 12,
    });
    expect(await patch('enable')).toMatchObject({
      ...{ enabled: true, disabled_reason: null },
      health: {
        ...{ state: 'healthy', consecutive_failures: 0, failing_since: null, retry_at: null },
        last_success_at: '2026-11-20T09:00:00.000Z',
      },
    });
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

describe('secrets', () => {
  const rotate = (id: string, body?: object) => api.send('POST', `/endpoints/${id}/rotate-secret`, { body });
  const stored = async (id: string) =>
    (await server.db.sql`select id from webhooks.endpoint_secret where endpoint_id = ${id}`).length;

  it('rotate with an overlap, by default of a day', async () => {
    const { id, secret } = await api.endpoint();
    const before = Date.now();
    const rotated = await rotate(id);
    const hours = (Date.parse(rotated.previous_valid_until as string) - before) / 3_600_000;
    expect(hours).toBeCloseTo(24, 1);
    expect(rotated.secret).not.toBe(secret);
    expect(await api.send('GET', `/endpoints/${id}/secret`)).toEqual({ secret: rotated.secret });
    const given = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    expect(await rotate(id, { secret: given, overlap: '1h' })).toMatchObject({ secret: given });
  });

  it('at most four earlier ones sign, and none after an overlap of 0', async () => {
    const { id } = await api.endpoint();
    for (let round = 0; round < 6; round++) await rotate(id);
    expect(await stored(id)).toBe(5);
    expect(await rotate(id, { overlap: '0s' })).toMatchObject({ previous_valid_until: null });
    expect(await stored(id)).toBe(1);
  });

  it('of many rotations at once leave one current secret', async () => {
    const { id } = await api.endpoint();
    const rotated = await Promise.all(Array.from({ length: 10 }, () => rotate(id)));
    const { secret } = await api.send('GET', `/endpoints/${id}/secret`);
    expect(rotated.map((one) => one.secret as string)).toContain(secret);
    expect(await stored(id)).toBe(5);
  });

  it('are in no answer that could be stored in transit', async () => {
    const { id } = await api.endpoint();
    const asked = [['GET', 'secret'] as const, ['POST', 'rotate-secret'] as const];
    for (const [method, path] of asked) {
      const { headers } = await server.request(method, `/webhooks/endpoints/${id}/${path}`);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  it.each([
    ['overlap', { overlap: '169h' }],
    ['overlap', { overlap: '-1s' }],
    ['secret', { secret: 'whsec_x' }],
  ])('400 names %s', async (field, body) => {
    const { id } = await api.endpoint();
    const [status, error] = await api.refusal('POST', `/endpoints/${id}/rotate-secret`, { body });
    expect([status, error]).toEqual([400, expect.stringContaining(field)]);
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

describe('who sees what', () => {
  it("another tenant's endpoint is like one that does not exist, whatever is asked", async () => {
    const { id } = await api.endpoint({ uid: 'theirs' }, { tenant: 'acme' });
    const requests = (ref: string) =>
      [
        ['GET', `/endpoints/${ref}`],
        ['PUT', `/endpoints/${ref}`, { description: 'x' }],
        ['DELETE', `/endpoints/${ref}`],
        ['PATCH', `/endpoints/${ref}/enable`],
        ['PATCH', `/endpoints/${ref}/disable`],
        ['POST', `/endpoints/${ref}/rotate-secret`],
        ['GET', `/endpoints/${ref}/secret`],
        ['POST', `/endpoints/${ref}/test`],
      ] as const;
    const answers = (ref: string) =>
      Promise.all(
        requests(ref).map(([method, path, body]) => api.refusal(method, path, { tenant: 'other', body })),
      );
    expect(await answers(id)).toEqual(await answers(absent));
    expect(await answers('theirs')).toEqual(await answers(absent));
    expect(await api.getEndpoint(id, { tenant: 'acme' })).toMatchObject({ description: '' });
  });

  it('the operator sees all tenants by id, but only its own by uid', async () => {
    const { id } = await api.endpoint({ tenant_id: 'acme', uid: 'named' });
    expect(await api.getEndpoint(id)).toMatchObject({ tenant_id: 'acme' });
    expect(await api.refusal('GET', '/endpoints/named')).toEqual([404, 'endpoint not found']);
    const own = await api.endpoint({ uid: 'named' });
    expect(await api.getEndpoint('named')).toMatchObject({ id: own.id });
    const [{ tenant_id }] = await server.db.sql<[{ tenant_id: string }]>`
      select tenant_id from webhooks.outbox where subject = ${id}`;
    expect(tenant_id).toBe('acme');
  });

  it('others may not name another tenant', async () => {
    const body = { url, event_types: ['*'], tenant_id: 'acme' };
    const refusal = await api.refusal('POST', '/endpoints', { tenant: 'other', body });
    expect(refusal).toEqual([403, "tenant_id: not the caller's own"]);
    expect((await api.refusal('GET', '/endpoints?tenant_id=acme', { tenant: 'other' }))[0]).toBe(403);
  });

  it('lists are newest first, and of the tenant', async () => {
    const tenant = 'lister';
    const ids: string[] = [];
    for (const enabled of [true, false, true]) ids.unshift((await api.endpoint({ enabled }, { tenant })).id);
    const list = async (query: string, caller?: string) =>
      ((await api.send('GET', `/endpoints${query}`, caller ? { tenant: caller } : {})) as Endpoint[]).map(
        ({ id }) => id,
      );
    expect(await list('', tenant)).toEqual(ids);
    expect(await list('?enabled=false', tenant)).toEqual([ids[1]]);
    expect(await list(`?tenant_id=${tenant}`)).toEqual(ids);
    expect((await list('?limit=100')).slice(0, 3)).toEqual(ids);
    const { headers } = await server.request('GET', '/webhooks/endpoints?limit=2', { tenant });
    expect(await list(`?limit=2&cursor=${headers.get('x-next-cursor')!}`, tenant)).toEqual(ids.slice(2));
    for (const query of ['?limit=101', '?limit=0', '?offset=100001', '?cursor=x'])
      expect((await api.refusal('GET', `/endpoints${query}`))[0]).toBe(400);
    expect((await api.refusal('GET', '/endpoints/ep_short'))[0]).toBe(400);
  });
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
