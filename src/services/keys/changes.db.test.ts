import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Change } from '../../../generated/keys/types.ts';
import { childServer, type ChildServer, testServer, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
});
afterAll(() => server.close());

type Tools = ReturnType<typeof tools>;

/** Writes to a key, and the outcome of a validation afterwards. `ask` is the question that a second process keeps asking. */
const ask = { required_scopes: ['a'] };
const writes: [
  what: string,
  write: (key: { id: string; policy_id: string }) => Promise<unknown>,
  code: string,
][] = [
  ['revocation', ({ id }) => api.send('POST', `/keys/${id}/revoke`), 'REVOKED'],
  ['suspension', ({ id }) => api.send('POST', `/keys/${id}/suspend`), 'SUSPENDED'],
  ['deletion', ({ id }) => api.send('DELETE', `/keys/${id}`), 'NOT_FOUND'],
  [
    'removal of a scope',
    ({ id }) => api.send('DELETE', `/keys/${id}/scopes`, { body: { scopes: ['a'] } }),
    'INSUFFICIENT_SCOPES',
  ],
  ['change of the policy', ({ policy_id }) => demand(policy_id), 'CONTEXT_REQUIRED'],
  [
    'switch of the policy',
    async ({ id }) => api.send('PATCH', `/keys/${id}`, { body: { policy_id: await strict() } }),
    'CONTEXT_REQUIRED',
  ],
  [
    'rotation without grace',
    ({ id }) => api.send('POST', `/keys/${id}/rotate`, { body: { grace_period: '0s' } }),
    'ROTATED',
  ],
  ['new end that passes', ({ id }) => end(id), 'EXPIRED'],
];
const demanding = { allowed_ips: ['203.0.113.0/24'], require_context: true };
const demand = (id: string) => api.send('PUT', `/policies/${id}`, { body: demanding });
const end = async (id: string) => {
  const expires_at = new Date(Date.now() + 100).toISOString();
  await api.send('PATCH', `/keys/${id}`, { body: { expires_at } });
  await until(async () => Date.now() > Date.parse(expires_at));
};
const strict = async () => (await api.policy(demanding)).id;
const issue = async () => {
  const { id: policy_id } = await api.policy();
  return api.issue({ scopes: ['a'], policy_id });
};

describe('the process that writes', () => {
  it.each(writes)('answers by the %s from its answer on', async (_, write, code) => {
    const { raw_key, key } = await issue();
    expect((await api.judge(raw_key, ask)).code).toBe('VALID');
    await write({ id: key.id, policy_id: key.policy_id! });
    expect((await api.judge(raw_key, ask)).code).toBe(code);
  });

  it('never answers by what was read before a revocation, however the two interleave', async () => {
    for (let round = 0; round < 40; round++) {
      const { raw_key, key } = await api.issue();
      const asking = Array.from({ length: 4 }, () => api.judge(raw_key));
      await api.send('POST', `/keys/${key.id}/revoke`);
      expect((await api.judge(raw_key)).code).toBe('REVOKED');
      await Promise.all(asking);
      expect((await api.judge(raw_key)).code).toBe('REVOKED');
    }
  });
});

describe.runIf(inject('engine') === 'postgres')('another process', () => {
  let child: ChildServer;
  let other: Tools;
  beforeAll(async () => {
    const env = { DATABASE_URL: server.db.options.url!, PLINTH_ROOT_TOKEN: server.rootToken };
    child = await childServer({
      services: ['keys'],
      env: { ...env, PLINTH_DATA_DIR: server.db.options.dataDir },
    });
    // A service that runs alone uses paths without a prefix.
    other = tools({
      request: (method, path, options) => child.request(method, path.replace('/keys', ''), options),
    });
  });
  afterAll(() => child.kill());

  /** Returns the milliseconds from the answer of the write until the other process gives the same outcome. */
  async function delayOf(write: (typeof writes)[number][1], code: string): Promise<number> {
    const { raw_key, key } = await issue();
    expect((await other.judge(raw_key, ask)).code).toBe('VALID');
    await write({ id: key.id, policy_id: key.policy_id! });
    const answered = performance.now();
    await until(async () => (await other.judge(raw_key, ask)).code === code);
    return performance.now() - answered;
  }

  it.each(writes)('answers by the %s within the bound', async (_, write, code) => {
    expect(await delayOf(write, code)).toBeLessThan(1_500);
  });

  it('hears of a revocation by notice, not only by polling', async () => {
    const delays: number[] = [];
    for (let round = 0; round < 9; round++) delays.push(await delayOf(writes[0]![1], 'REVOKED'));
    expect(delays.toSorted((a, b) => a - b)[4]).toBeLessThan(250);
  });

  it('answers within the bound when it is cut off from notices', async () => {
    const cut = () => server.db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %' and pid <> pg_backend_pid()`;
    for (let round = 0; round < 3; round++) {
      const revokeUnheard = async ({ id }: { id: string }) => {
        await cut();
        return api.send('POST', `/keys/${id}/revoke`);
      };
      expect(await delayOf(revokeUnheard, 'REVOKED')).toBeLessThan(1_500);
    }
  });
});

describe('the stream of changes', () => {
  /** Reads a stream as it arrives. `text` is all of it so far. */
  async function open(headers: Record<string, string> = {}) {
    const ended = new AbortController();
    const response = await fetch(`${server.url}/keys/v1/changes`, {
      headers: { authorization: `Bearer ${server.rootToken}`, ...headers },
      signal: ended.signal,
    });
    const stream = {
      status: response.status,
      type: response.headers.get('content-type'),
      text: '',
      close: () => ended.abort(),
    };
    void (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) stream.text += chunk;
    })().catch(() => {});
    return stream;
  }
  const events = (text: string) =>
    text
      .split('\n\n')
      .flatMap((block) => /^event: change\nid: \d+\ndata: (.*)$/m.exec(block)?.slice(1) ?? [])
      .map((data) => JSON.parse(data) as Change);

  it('begins with a sign of life and tells every change that is made', async () => {
    const stream = await open();
    expect([stream.status, stream.type]).toEqual([200, 'text/event-stream']);
    await expect.poll(() => stream.text).toContain(': hb\n\n');
    const { key } = await issue();
    await api.send('POST', `/keys/${key.id}/suspend`);
    await api.send('PUT', `/policies/${key.policy_id}`, { body: { rate_limit: 9 } });
    // A change may be reported again, so the test compares the set of subjects that a cache would drop.
    const heard = () => new Set(events(stream.text).map(({ kind, id }) => `${kind} ${id}`));
    await expect.poll(heard).toContain(`key ${key.id}`);
    await expect.poll(heard).toContain(`policy ${key.policy_id}`);
    stream.close();
  });

  it('goes on after the last event that was seen', async () => {
    const first = await open();
    const { key } = await issue();
    const { key: other } = await issue();
    await api.send('POST', `/keys/${key.id}/suspend`);
    const seqOf = () => events(first.text).find(({ id }) => id === key.id)?.seq;
    await expect.poll(seqOf).toBeGreaterThan(0);
    first.close();
    await api.send('POST', `/keys/${other.id}/suspend`);
    const second = await open({ 'last-event-id': String(seqOf()) });
    await expect.poll(() => events(second.text).map(({ id }) => id)).toContain(other.id);
    second.close();
  });

  it('410 when it does not reach back that far', async () => {
    const { status, body } = await server.request('GET', '/keys/v1/changes', {
      headers: { 'last-event-id': '999999999' },
    });
    expect([status, body]).toEqual([410, { error: 'Last-Event-ID: too old', code: 'GONE' }]);
  });
});
