import { createHash, createHmac } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { runSweep } from './sweeps.ts';
import { type Claim, createIdempotency, type Idempotency } from './idempotency.ts';

let db: TestDatabase;
let store: Idempotency;
beforeAll(async () => {
  db = await testDatabase();
  store = createIdempotency({ db, log: pino({ level: 'silent' }), mac });
});
afterAll(async () => {
  store.stop();
  await db.close();
});

const mac = (tenant: string, text: string) => createHmac('sha256', tenant).update(text).digest();
const hash = (text: string) => createHash('sha256').update(text).digest();
const request = (key: string, body = '{}', tenant = 'acme') => ({
  tenant,
  scope: 'authz Roles_create',
  key,
  fingerprint: hash(body),
});
const answer = { status: 201, headers: { 'X-Revision': '7' }, body: '{"b":1,"a":2.0}' };

async function claimed(key: string, body?: string): Promise<Claim> {
  const result = await store.claim(request(key, body));
  if (!('claim' in result)) throw new Error('not claimed');
  return result.claim;
}

test('the same request gets the first answer again, to the letter', async () => {
  await (await claimed('replay')).keep(answer);
  expect(await store.claim(request('replay'))).toEqual({ answer });
});

test('the same key with another body is refused, finished or not', async () => {
  const claim = await claimed('mismatch');
  const refused = { kind: 'conflict', message: 'idempotency key was used with another body' };
  await expect(store.claim(request('mismatch', '{"a":1}'))).rejects.toMatchObject(refused);
  await claim.keep(answer);
  await expect(store.claim(request('mismatch', '{"a":1}'))).rejects.toMatchObject(refused);
});

test('keys of other tenants and operations are other keys', async () => {
  await claimed('own');
  expect(await store.claim(request('own', '{}', 'globex'))).toHaveProperty('claim');
  expect(await store.claim({ ...request('own'), scope: 'keys Keys_create' })).toHaveProperty('claim');
});

test('while the first request runs, its repeats are told to come back', async () => {
  const all = await Promise.allSettled(Array.from({ length: 30 }, () => store.claim(request('race'))));
  const refused = all.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(29);
  for (const each of refused) expect(each).toMatchObject({ reason: { kind: 'conflict', retryAfter: 1 } });
});

test('an answer with a secret is remembered by the id of what was made only', async () => {
  await (await claimed('secret')).keepOnly('key_01h455vb4pex5vsknk084sn02q');
  await expect(store.claim(request('secret'))).rejects.toMatchObject({
    kind: 'conflict',
    message: expect.stringContaining('key_01h455vb4pex5vsknk084sn02q'),
  });
  const [row] = await db.sql`select answer from plinth.idempotency_keys where key = 'secret'`;
  expect(row).toEqual({ answer: null });
});

test('after a release the next request starts from the beginning', async () => {
  await (await claimed('released')).release();
  await claimed('released', 'another body');
});

test('the claim of a process that died is taken over, and the dead one can no longer answer', async () => {
  const dead = await claimed('dead');
  await db.sql`update plinth.idempotency_keys set claimed_at = now() - interval '61 seconds' where key = 'dead'`;
  const heir = await claimed('dead');
  await dead.keep({ ...answer, status: 200 });
  await dead.release();
  await heir.keep(answer);
  expect(await store.claim(request('dead'))).toEqual({ answer });
});

test('the claim of a request that takes long is renewed, so that nobody carries it out a second time', async () => {
  const patient = createIdempotency({ db, log: pino({ level: 'silent' }), mac, renewalMs: 20 });
  try {
    const first = await patient.claim(request('long'));
    await db.sql`update plinth.idempotency_keys set claimed_at = now() - interval '61 seconds' where key = 'long'`;
    const renewed = () => db.sql`
      select key from plinth.idempotency_keys where key = 'long' and claimed_at > now() - interval '30 seconds'`;
    await expect.poll(renewed).toEqual([{ key: 'long' }]);
    await expect(store.claim(request('long'))).rejects.toMatchObject({ kind: 'conflict', retryAfter: 1 });
    if (!('claim' in first)) throw new Error('not claimed');
    await first.claim.keep(answer);
    await db.sql`update plinth.idempotency_keys set claimed_at = now() - interval '61 seconds' where key = 'long'`;
    expect(await store.claim(request('long'))).toEqual({ answer });
  } finally {
    patient.stop();
  }
});

test('after 24 hours a key is new, and the sweep removes it', async () => {
  await (await claimed('old')).keep(answer);
  await db.sql`update plinth.idempotency_keys set claimed_at = now() - interval '25 hours' where key = 'old'`;
  await claimed('old', 'another body');
  await db.sql`update plinth.idempotency_keys set claimed_at = now() - interval '25 hours' where key = 'old'`;
  await runSweep(store.sweep);
  expect(await db.sql`select key from plinth.idempotency_keys where key = 'old'`).toEqual([]);
});

test('what is kept of a request is a hash under the secret key: it lets nothing be guessed', async () => {
  await claimed('hidden', '{"password":"correct horse battery staple"}');
  const [kept] = await db.sql<{ fingerprint: Buffer }[]>`
    select fingerprint from plinth.idempotency_keys where key = 'hidden'`;
  const plain = request('hidden', '{"password":"correct horse battery staple"}').fingerprint;
  expect(kept!.fingerprint).toEqual(mac('acme', plain.toString('hex')));
});
