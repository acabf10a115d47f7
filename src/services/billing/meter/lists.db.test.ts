/** Tests that a filter of the list of usage events reads a range of an index, however many events it leaves out. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../lib/ids.ts';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { type UsageFilter, usageStore } from './events.store.ts';
import { explaining, planIn } from './testing.ts';

const events = 4_000;
const app = 'default';
const page = { limit: 20, offset: 0 };

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: ['billing'] });
  const ids = Array.from({ length: events }, () => newId('uevt'));
  await db.sql`
    insert into billing.usage_event (tenant_id, id, app_id, feature_key, quantity, metadata, status, happened_at, accepted_at)
    select 'tenant-' || nth % 10, id, ${app}, 'feature-' || nth / 10 % 10, 1, '{}',
      case nth / 100 % 20 when 0 then 'voided' else 'counted' end, ${new Date()}, ${new Date()}
    from unnest(${ids}::text[]) with ordinality as given(id, nth)`;
  await db.sql`analyze billing.usage_event`;
});
afterAll(() => db.close());

it.each<[string, string | undefined, UsageFilter, string]>([
  ['voided events of a tenant', 'tenant-1', { status: 'voided' }, 'usage_event_voided'],
  ['voided events of all tenants', undefined, { status: 'voided' }, 'usage_event_app_voided'],
  ['a feature of a tenant', 'tenant-1', { feature_key: 'feature-1' }, 'usage_event_feature'],
  ['a feature of all tenants', undefined, { feature_key: 'feature-1' }, 'usage_event_app_feature'],
])('%s: a range of an index', async (_, tenant, filter, index) => {
  const { rows } = await db.transaction(async (sql) => {
    // A few thousand rows are read and sorted in no time, which millions are not.
    for (const way of ['seqscan', 'bitmapscan', 'sort']) await sql`set local ${sql(`enable_${way}`)} = off`;
    return await usageStore(explaining(sql)).list({ app, tenant }, filter, page);
  });
  const plan = planIn(rows);
  expect(plan).toMatch(new RegExp(`Index (Only )?Scan Backward using ${index}`));
  expect(plan).not.toMatch(/Filter|Sort/);
});

it.each([
  ['of a tenant', 'tenant-1'],
  ['of all tenants', undefined],
])('a list %s that ends at a time looks at no event that came long after it', async (_, tenant) => {
  const { rows } = await db.transaction(async (sql) => {
    await sql`set local enable_seqscan = off`;
    const end = Date.now() - 86_400_000;
    return await usageStore(explaining(sql)).list({ app, tenant }, { end }, page);
  });
  const plan = planIn(rows);
  expect(plan).toMatch(tenant === undefined ? /usage_event_app_late/ : /usage_event_late/);
  expect(plan).not.toMatch(/Removed by Filter/);
});
