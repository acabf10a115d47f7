import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../db/index.ts';
import { readSettings } from '../../lib/settings.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { decide, decideBatch } from './engine/decide.ts';
import type { CheckInput, TupleKey } from './engine/types.ts';
import { Models } from './models.ts';
import { relationStore } from './relations.store.ts';
import { settings } from './settings.ts';
import { question, tuple } from './testing.ts';
import { createWriter, type Performer } from './writes.ts';

const limits = { depth: 50, visits: 50_000 };
let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: ['authz'] });
});
afterAll(() => db.close());

/** Creates separate models and counts what they send: fragments and statements, reads of slices, and loads. */
function modelsWith(env: Record<string, string> = {}, extra: object = {}) {
  const counted = { sent: 0, reads: 0, loads: 0 };
  const sql = new Proxy(db.sql, {
    apply(target, self, call: [readonly string[]]) {
      counted.sent += 1;
      if (call[0][0]?.includes('null::int as place')) counted.reads += 1;
      return Reflect.apply<unknown, unknown[], unknown>(target as never, self, call);
    },
  });
  const transaction: Database['transaction'] = (run) => {
    counted.loads += 1;
    return db.transaction(run);
  };
  const models = new Models({ ...db, sql, transaction }, { ...readSettings(settings, env), ...extra });
  const { perform } = createWriter(db, models);
  const check = async (tenant: string, input: CheckInput) =>
    (await models.decide(tenant, {}, (model, now) => decide(model, input, { now, limits }))).answer.allowed;
  const batch = async (tenant: string, inputs: readonly CheckInput[]) =>
    (await models.decide(tenant, {}, (model, now) => decideBatch(model, inputs, { now, limits }))).answer.map(
      ({ allowed }) => allowed,
    );
  return { models, counted, check, batch, write: tuplesWriter(perform) };
}

/** Writes tuples as a batch would. */
function tuplesWriter(perform: Performer) {
  return (tenant: string, texts: readonly string[]) =>
    perform({ tenant, app: 'default', actor: 'root', reply: { status() {}, header() {} } }, async (tx) => {
      const facts = texts.map((text, n) => ({
        ...(tuple(text) as TupleKey),
        ...{ id: `rel_${tx.revision}_${n}`, expires_at: null },
      }));
      const stored = await relationStore(tx.sql).insert(tenant, 'default', facts);
      tx.count('tuples', stored.length);
      const ids = new Set(stored.map(({ id }) => id));
      tx.change(
        'relation',
        'put',
        facts.filter(({ id }) => ids.has(id)),
      );
    });
}

const partial = { PLINTH_AUTHZ_PRELOAD_FACTS: '0' };

describe('a partial model', () => {
  it('sends one statement for each level of the graph, for a whole batch', async () => {
    const tenant = 'levels';
    const { write, batch, check, counted } = modelsWith(partial);
    await write(
      tenant,
      [0, 1, 2, 3, 4].flatMap((n) => [
        ...[`document:${n}#read@group:a${n}#member`, `group:a${n}#member@group:b${n}#member`],
        `group:b${n}#member@user:u${n}`,
      ]),
    );
    await check(tenant, question('user:x', 'read', 'page:1'));
    counted.reads = 0;
    const inputs = [0, 1, 2, 3, 4].flatMap((n) => [
      ...[question(`user:u${n}`, 'read', `document:${n}`), question(`user:v${n}`, 'read', `document:${n}`)],
    ]);
    expect(await batch(tenant, inputs)).toEqual(inputs.map((_, n) => n % 2 === 0));
    expect(counted.reads).toBeLessThanOrEqual(4);
  });

  it('answers like a full one, also with every slice evicted between requests', async () => {
    const groups = ['a', 'b', 'c'];
    const edge = fc.oneof(
      fc
        .tuple(fc.constantFrom('1', '2'), fc.constantFrom(...groups))
        .map(([d, g]) => `document:${d}#read@group:${g}#member`),
      fc
        .tuple(fc.constantFrom(...groups), fc.constantFrom(...groups))
        .map(([g, h]) => `group:${g}#member@group:${h}#member`),
      fc
        .tuple(fc.constantFrom(...groups), fc.constantFrom('u', 'v'))
        .map(([g, u]) => `group:${g}#member@user:${u}`),
      fc.constantFrom('1', '2').map((d) => `document:${d}#read@user:*`),
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(edge, { maxLength: 12 }), async (texts) => {
        const tenant = `same-${db.engine}-${(run += 1)}`;
        const full = modelsWith();
        const part = modelsWith(partial);
        const starved = modelsWith(partial, { memory: 0 });
        if (texts.length > 0) await full.write(tenant, texts);
        const inputs = ['u', 'v', 'w'].flatMap((user) =>
          ['1', '2'].map((id) => question(`user:${user}`, 'read', `document:${id}`)),
        );
        const wanted = await full.batch(tenant, inputs);
        expect(await part.batch(tenant, inputs)).toEqual(wanted);
        for (const [n, input] of inputs.entries()) expect(await starved.check(tenant, input)).toBe(wanted[n]);
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  it('stays within the memory budget, whatever is asked', async () => {
    const tenant = 'budget';
    const memory = 100_000;
    const { models, write, batch } = modelsWith(partial, { memory });
    const users = Array.from({ length: 1000 }, (_, n) => n);
    await write(
      tenant,
      users.map((n) => `document:${n}#read@user:u${n}`),
    );
    for (let from = 0; from < 1000; from += 50) {
      const asked = users.slice(from, from + 50).map((n) => question(`user:u${n}`, 'read', `document:${n}`));
      expect(await batch(tenant, asked)).not.toContain(false);
      const { answer: bytes } = await models.decide(tenant, {}, (model) => ({ answer: model.bytes }));
      expect(bytes).toBeLessThanOrEqual(memory);
    }
  });

  it('sees what is written while its slices are on their way', async () => {
    const tenant = 'racing';
    const { write, check } = modelsWith(partial);
    await write(tenant, ['document:0#read@user:seed']);
    for (let n = 1; n <= 30; n += 1) {
      const asked = question('user:u', 'read', `document:${n}`);
      await Promise.all([
        check(tenant, asked),
        check(tenant, asked),
        write(tenant, [`document:${n}#read@user:u`]),
      ]);
      expect(await check(tenant, asked)).toBe(true);
    }
  });
});

describe('a full model', () => {
  it('sends no statement for a warm check, and one load serves all who wait', async () => {
    const tenant = 'warm';
    const { write, check, counted } = modelsWith();
    await write(tenant, ['document:1#read@user:u']);
    const asked = question('user:u', 'read', 'document:1');
    expect(await Promise.all(Array.from({ length: 50 }, () => check(tenant, asked)))).not.toContain(false);
    expect(counted.loads).toBe(1);
    counted.sent = 0;
    expect(await check(tenant, asked)).toBe(true);
    expect(counted).toMatchObject({ sent: 0, loads: 1 });
  });

  it('goes when it has doubled, and comes back in part', async () => {
    const tenant = 'growing';
    const { models, write, check } = modelsWith({ PLINTH_AUTHZ_PRELOAD_FACTS: '10' });
    const asked = question('user:u', 'read', 'document:1');
    const mode = () => models.decide(tenant, {}, (model) => ({ answer: model.mode }));
    await write(tenant, ['document:1#read@user:u']);
    expect(await check(tenant, asked)).toBe(true);
    expect((await mode()).answer).toBe('full');
    await write(
      tenant,
      Array.from({ length: 30 }, (_, n) => `page:${n}#read@user:u`),
    );
    // Loading another tenant triggers the eviction.
    await check('newcomer', asked);
    expect(await check(tenant, asked)).toBe(true);
    expect((await mode()).answer).toBe('partial');
  });
});

it('refuses a poll interval that lets models go stale between two polls', async () => {
  const { checkSettings } = await import('./settings.ts');
  const values = (env: Record<string, string>) => readSettings(settings, env);
  expect(() => checkSettings(values({}))).not.toThrow();
  expect(() => checkSettings(values({ PLINTH_AUTHZ_MAX_STALENESS: '300ms' }))).toThrow(
    'PLINTH_AUTHZ_POLL_INTERVAL must be at most half of PLINTH_AUTHZ_MAX_STALENESS',
  );
});
