import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedKey, Key, Policy } from '../../../generated/keys/types.ts';
import { leastTurnOf, onThisMachine } from '../../testing/processor-time.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

/** Maximum milliseconds of processor time for which a request of one tenant may delay those of others. */
const bound = () => onThisMachine(50);

const many = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));
const numbered = (at: number, length: number) => `n${String(at).padStart(length - 1, '0')}`;

/** As large as the contract allows. */
const scopes = many(100, (at) => `${'s'.repeat(40)}:${'t'.repeat(40)}:${numbered(at, 40)}`);
const origins = many(100, (at) => `https://*.${many(3, () => 'o'.repeat(60)).join('.')}.${numbered(at, 20)}`);
const ranges = many(100, (at) => `2001:db8:ffff:ffff:ffff:ffff:ffff:${(0x1000 + at).toString(16)}/128`);
const metadata = Object.fromEntries(many(64, (at) => [`m${at}`, { a: { b: { c: 'v'.repeat(95) } } }]));
const terms = { allowed_ips: ranges, allowed_origins: origins, allowed_scopes: scopes };
const use = {
  method: 'OPTIONS',
  endpoint: `/${'e'.repeat(511)}`,
  origin: `https://${'o'.repeat(504)}`,
  user_agent: 'u'.repeat(512),
};

let server: TestServer;
let api: ReturnType<typeof tools>;
let issued: IssuedKey;
let policy: Policy;
beforeAll(async () => {
  // As in production: a second check of requests and responses is for development.
  server = await testServer({ services: ['keys'], strict: false });
  api = tools(server);
  policy = await api.policy({ ...terms, description: 'd'.repeat(500) });
  issued = await api.issue({ policy_id: policy.id, scopes, metadata });
});
afterAll(() => server.close());

/** The most processor time of a turn while a request is answered. */
function longest(
  method: string,
  path: string,
  body?: (run: number) => object,
  status = 200,
): Promise<number> {
  const headers = { authorization: `Bearer ${server.rootToken}`, 'content-type': 'application/json' };
  return leastTurnOf(async (run) => {
    const text = body === undefined ? null : JSON.stringify(body(run));
    const response = await fetch(`${server.url}/keys/v1${path}`, { method, headers, body: text });
    expect(response.status).toBe(status);
    // The response is read to its end, and not parsed.
    for await (const _ of response.body!);
  }, bound);
}

test('a report of 1,000 uses, and the list and the sums of the longest range', async () => {
  const records = many(1_000, () => ({
    ...use,
    key_id: issued.key.id,
    ip_address: '2001:db8::ffff:ffff:ffff',
  }));
  expect(await longest('POST', '/usage', () => ({ records }), 202)).toBeLessThan(bound());
  expect(await longest('GET', '/usage?limit=1000&from=0001-01-01&to=9999-12-31')).toBeLessThan(bound());
  await server.db.sql`
    insert into keys.usage_hourly
    select 'default', ${issued.key.id}, '2026-01-01T00:00:00Z'::timestamptz + hour * interval '1 hour', 'O' || outcome, 1, 1, 1, 1, 1
    from generate_series(0, 999) as hour, generate_series(1, 13) as outcome`;
  const hours = 'granularity=hourly&from=2026-01-01&to=2026-02-11T16:00:00Z';
  expect(await longest('GET', `/usage/aggregate?${hours}`)).toBeLessThan(bound());
});

test('a policy with 100 ranges, origins and scopes, and validations by it', async () => {
  const named = (run: number) => ({ ...terms, name: `Worst ${run}` });
  expect(await longest('POST', '/policies', named, 201)).toBeLessThan(bound());
  const change = (run: number) => ({
    ...terms,
    allowed_origins: [...origins.slice(1), `https://${run}.example`],
  });
  expect(await longest('PUT', `/policies/${policy.id}`, change)).toBeLessThan(bound());
  const question = {
    ...use,
    raw_key: issued.raw_key,
    required_scopes: scopes.slice(50),
    ip: '2001:db8:ffff:ffff:ffff:ffff:ffff:1000',
  };
  expect(await longest('POST', '/keys/validate', () => question)).toBeLessThan(bound());
  const garbage = { ...question, raw_key: `sk_live_${'x'.repeat(4_088)}` };
  expect(await longest('POST', '/keys/validate', () => garbage)).toBeLessThan(bound());
});

test('lists of 1,000 of the largest keys and policies', async () => {
  await server.db.sql`
    insert into keys.policies
    select made.* from keys.policies as one, generate_series(1, 1000) as number, lateral jsonb_populate_record(
      one, jsonb_build_object('id', 'kpol_' || lpad(number::text, 26, '0'), 'name', 'Copy ' || number)
    ) as made
    where one.id = ${policy.id}`;
  await server.db.sql`
    insert into keys.keys
    select made.* from keys.keys as one, generate_series(1, 1000) as number, lateral jsonb_populate_record(
      one, jsonb_build_object('id', 'key_' || lpad(number::text, 26, '0'))
    ) as made
    where one.id = ${issued.key.id}`;
  expect(await longest('GET', '/keys?limit=1000')).toBeLessThan(bound());
  expect(await longest('GET', '/policies?limit=1000')).toBeLessThan(bound());
  // A response whose length is not known in advance was not encoded at once, and it is whole nevertheless.
  const { headers, body } = await server.request('GET', '/keys/v1/keys?limit=1000');
  expect(headers.has('content-length')).toBe(false);
  const [newest, ...others] = body as Key[];
  expect([newest?.scopes, newest?.metadata, others.length]).toEqual([scopes, metadata, 999]);
});
