import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UsageRecord } from '../../../../generated/keys/types.ts';
import { idTime, newId } from '../../../lib/ids.ts';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { createFold } from './fold.ts';
import { contextOf, openKeys, type OpenKeys } from './testing/open-keys.ts';
import { idAt, reported } from './testing/uses.ts';

let db: TestDatabase;
let service: OpenKeys;
beforeAll(async () => {
  db = await testDatabase({ services: ['keys'] });
  service = await openKeys(db);
});
afterAll(async () => {
  await service.close();
  await db.close();
});

const acme = contextOf('acme');
const day = 86_400_000;
const listed = (keyId: string) => service.usage.forKey({ keyId, limit: 1000 }, acme);

describe('a validation', () => {
  it('is in the list as soon as it is answered, with all that was sent of the request', async () => {
    const { raw_key, key } = await service.issue();
    const sent = {
      ip: '203.0.113.7',
      origin: 'https://a.test',
      method: 'GET',
      endpoint: '/v1/reports',
      user_agent: 'curl/8.5.0',
    };
    const { usage_id } = await service.validate(raw_key, { ...sent, cost: 3, record: 'durable' });
    expect(await listed(key.id)).toEqual([
      {
        id: usage_id,
        key_id: key.id,
        tenant_id: 'acme',
        source: 'validation',
        outcome: 'VALID',
        cost: 3,
        method: 'GET',
        endpoint: '/v1/reports',
        status_code: null,
        latency_ms: null,
        ip_address: '203.0.113.7',
        origin: 'https://a.test',
        user_agent: 'curl/8.5.0',
        created_at: new Date(idTime(usage_id ?? '')).toISOString(),
      },
    ]);
  });

  it('is in the list at once, also while the background folds as fast as it can', async () => {
    const { raw_key, key } = await service.issue();
    let folding = true;
    const background = createFold(db);
    const folds = (async () => {
      while (folding) await background.now();
    })();
    for (let count = 1; count <= 40; count++) {
      const { usage_id } = await service.validate(raw_key, { record: 'durable' });
      const records = await listed(key.id);
      expect(records).toHaveLength(count);
      expect(records.map(({ id }) => id)).toContain(usage_id);
    }
    folding = false;
    await folds;
  });

  it('is recorded with its outcome when it is refused, at no cost, and not at all when nobody is known', async () => {
    const { raw_key, key } = await service.issue();
    await service.keys.suspend({ keyId: key.id }, acme);
    await service.validate(raw_key, { record: 'durable', cost: 7 });
    await service.validate(raw_key, { record: 'none' });
    await service.validate('garbage', { record: 'durable' });
    expect(await listed(key.id)).toMatchObject([{ outcome: 'SUSPENDED', cost: 0 }]);
  });

  it('that is recorded without waiting arrives by itself, and raises last_used_at', async () => {
    const { raw_key, key } = await service.issue();
    const { usage_id } = await service.validate(raw_key, { record: 'async' });
    await until(async () => (await listed(key.id)).length === 1);
    const used = await service.keys.get({ keyId: key.id }, acme);
    expect(used.last_used_at).toBe(new Date(idTime(usage_id ?? '')).toISOString());
    expect(used.updated_at).toBe(key.updated_at);
  });

  it('cannot be broken by what a request claims of itself', async () => {
    const { raw_key, key } = await service.issue();
    const nasty = `'); drop table keys.usage; --\n{"x":"\\u0000"}\u2028%s$1`;
    await service.validate(raw_key, { record: 'durable', endpoint: nasty, user_agent: nasty });
    expect(await listed(key.id)).toMatchObject([{ endpoint: nasty, user_agent: nasty }]);
    // A caller in the process passes on what a request carries, unchecked.
    await service.validate(raw_key, {
      record: 'async',
      origin: `https://${'x'.repeat(600)}`,
      method: 'M'.repeat(40),
      endpoint: `/\0\ud800${'e'.repeat(600)}`,
      user_agent: 'u'.repeat(600),
    });
    await until(async () => (await listed(key.id)).length === 2);
    const [record] = await listed(key.id);
    expect(
      [record?.method, record?.endpoint, record?.origin, record?.user_agent].map((text) => text?.length),
    ).toEqual([16, 511, 512, 512]);
  });
});

describe('a report', () => {
  it('with the same ids counts once: in one report, twice, in parallel, and after a fold', async () => {
    const { key } = await service.issue();
    const records = Array.from({ length: 30 }, () =>
      reported({ key_id: key.id, id: newId('kuse'), status_code: 500, latency_ms: 10 }),
    );
    const report = () => service.usage.report({ body: { records: [...records, ...records] } }, acme);
    expect(await Promise.all([report(), report(), report()])).toEqual(
      Array(3).fill({ accepted: 60, rejected: [] }),
    );
    expect(await listed(key.id)).toHaveLength(30);
    await report();
    expect(await listed(key.id)).toHaveLength(30);
    const [sum] = await service.usage.aggregateForKey({ keyId: key.id, granularity: 'monthly' }, acme);
    expect(sum).toMatchObject({ request_count: 30, error_count: 30, cost: 30, latency_avg_ms: 10 });
  });

  it('is refused by index where the key is not the tenant’s or the id too old or ahead; the others are stored', async () => {
    const { key } = await service.issue();
    const foreign = await service.issue({}, contextOf('other'));
    const now = Date.now();
    const records = [
      reported({ key_id: key.id }),
      reported({ key_id: foreign.key.id }),
      reported({ key_id: newId('key') }),
      reported({ key_id: key.id, id: idAt(now - day - 1_000) }),
      reported({ key_id: key.id, id: idAt(now - day + 60_000) }),
      reported({ key_id: key.id, id: idAt(now + 61_000) }),
      reported({ key_id: key.id, id: idAt(now + 55_000) }),
    ];
    expect(await service.usage.report({ body: { records } }, acme)).toEqual({
      accepted: 3,
      rejected: [
        { index: 1, error: 'key not found' },
        { index: 2, error: 'key not found' },
        { index: 3, error: 'id: made more than 24 hours ago' },
        { index: 5, error: 'id: made in the future' },
      ],
    });
    const found = await service.usage.forKey(
      { keyId: key.id, from: new Date(now - 2 * day).toISOString(), limit: 10 },
      acme,
    );
    expect(found).toHaveLength(3);
  });

  it('of 1000 records is stored whole', async () => {
    const { key } = await service.issue();
    const records = Array.from({ length: 1000 }, () => reported({ key_id: key.id }));
    expect(await service.usage.report({ body: { records } }, acme)).toEqual({ accepted: 1000, rejected: [] });
    expect(await listed(key.id)).toHaveLength(1000);
  });
});

describe('a list', () => {
  it('is walked by cursor, newest first and the last id of a millisecond first, without repeats, and filtered by outcome', async () => {
    const { key } = await service.issue();
    const now = Date.now();
    // Several records share each millisecond, so page boundaries fall between them.
    const records = Array.from({ length: 23 }, (_, index) =>
      reported({
        key_id: key.id,
        id: idAt(now - Math.floor(index / 5)),
        outcome: index % 2 === 0 ? 'VALID' : 'EXPIRED',
      }),
    );
    await service.usage.report({ body: { records } }, acme);
    const walked: UsageRecord[] = [];
    const headers: Record<string, string> = {};
    for (let cursor: string | undefined; ;) {
      delete headers['X-Next-Cursor'];
      const page = await service.usage.list({ key_id: key.id, limit: 4, cursor }, contextOf('acme', headers));
      walked.push(...page);
      cursor = headers['X-Next-Cursor'];
      if (cursor === undefined) break;
      expect(page).toHaveLength(4);
    }
    const place = ({ created_at, id }: UsageRecord) => [-Date.parse(created_at), id] as const;
    const sorted = walked.toSorted(
      (a, b) => place(a)[0] - place(b)[0] || (place(a)[1] > place(b)[1] ? -1 : 1),
    );
    expect(walked).toEqual(sorted);
    expect(new Set(walked.map(({ id }) => id)).size).toBe(23);
    expect(await service.usage.forKey({ keyId: key.id, limit: 100, outcome: 'EXPIRED' }, acme)).toHaveLength(
      11,
    );
  });

  it('begins at from and ends before to', async () => {
    const { key } = await service.issue();
    const at = Date.now() - 5_000;
    const records = [at - 1, at, at + 1, at + 2].map((ms) => reported({ key_id: key.id, id: idAt(ms) }));
    await service.usage.report({ body: { records } }, acme);
    const [from, to] = [at, at + 2].map((ms) => new Date(ms).toISOString());
    const found = await service.usage.forKey({ keyId: key.id, from, to, limit: 10 }, acme);
    expect(found.map(({ created_at }) => Date.parse(created_at))).toEqual([at + 1, at]);
  });

  it('of a key is 404 for another tenant, and of a deleted key remains in the tenant’s list', async () => {
    const { raw_key, key } = await service.issue();
    await service.validate(raw_key, { record: 'durable' });
    await expect(service.usage.forKey({ keyId: key.id, limit: 1 }, contextOf('other'))).rejects.toMatchObject(
      { kind: 'notFound' },
    );
    await service.keys.delete({ keyId: key.id }, acme);
    await expect(listed(key.id)).rejects.toMatchObject({ kind: 'notFound' });
    expect(await service.usage.list({ key_id: key.id, limit: 10 }, acme)).toHaveLength(1);
  });
});
