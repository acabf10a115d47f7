/** Tests that the look-up of repeated events reads their keys only, also in a database that has no statistics yet. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../lib/ids.ts';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { ingestStore } from './ingest.store.ts';
import { draftOf } from './new-usage.ts';
import { explaining, planIn } from './testing.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: ['billing'] });
});
afterAll(() => db.close());

/** A repeat of an event. */
const repeat = (nth: number) => {
  const sent = { feature_key: 'calls', quantity: 1, idempotency_key: `key-${nth}`, metadata: {} };
  const origin = { tenant: 'acme', app: 'default', isOperator: false, now: Date.now(), lateWindowMs: 1_000 };
  const draft = draftOf(sent, origin);
  if (draft.verdict === 'refused') throw new Error(draft.message);
  return draft.event;
};

it.each([0, 1_000, 10_000, 30_000])('among %i events', async (count) => {
  const ids = Array.from({ length: count }, () => newId('uevt'));
  await db.sql`
    insert into billing.usage_event
      (tenant_id, id, app_id, feature_key, quantity, idempotency_key, metadata, status, happened_at, accepted_at)
    select 'acme', id, 'default', 'calls', 1, ${`${count}-`} || nth, '{}', 'counted', ${new Date()}, ${new Date()}
    from unnest(${ids}::text[]) with ordinality as given(id, nth)`;
  const plan = planIn(await ingestStore(explaining(db.sql)).find([repeat(1), repeat(2)]));
  expect(plan).toMatch(/Index Scan using usage_event_key /);
  expect(plan).not.toMatch(/Filter/);
});
