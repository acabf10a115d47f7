import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Feature } from '../../../../generated/billing/types.ts';
import { type TestDatabase, testDatabase } from '../../../testing/database.ts';
import { planFeatures, revised, type Subscribed, subscribed } from '../meter/testing.ts';
import { createRevisions } from '../plans/revisions.ts';
import { segmentStore } from '../subscriptions/segments.store.ts';
import { TestClock } from '../testing.ts';
import { createGrants } from './grants.ts';

const start = '2026-01-15T10:00:00.000Z';
const [calls, , seats] = planFeatures as [Feature, Feature, Feature];
const clock = new TestClock('2026-02-20T12:00:00.000Z');

let db: TestDatabase;
let acme: Subscribed;
beforeAll(async () => {
  db = await testDatabase({ services: ['billing'] });
  acme = await subscribed(db.sql, { tenant: 'acme', at: Date.parse(start) });
});
afterAll(() => db.close());

it('the use of all features is that of the plan as it is, even if the plan changes meanwhile', async () => {
  const { plan } = await subscribed(db.sql, { tenant: 'changes', at: Date.parse(start), features: [calls] });
  await db.sql`
    insert into billing.usage_total (tenant_id, subscription_id, feature_key, segment_start, window_start, quantity, events)
    select tenant_id, subscription_id, 'seats', starts_at, window_start, 5, 1 from billing.segment
    where tenant_id = 'changes' order by starts_at limit 1`;
  const revisions = createRevisions();
  let isChanged = false;
  const read: typeof revisions.read = async (...wanted) => {
    if (!isChanged) await revised(db.sql, plan, [calls, seats]);
    isChanged = true;
    return await revisions.read(...wanted);
  };
  const grants = createGrants({ db, clock, revisions: { ...revisions, read } });
  const grant = await grants.ofTenantWhole('changes', 'default');
  expect(grant?.plan.features).toEqual([calls, seats]);
  expect(grant?.entitlementTo('seats')).toMatchObject({ used: 5, remaining: 0 });
});

it('checks that come at once share a statement, and each gets its own answer', async () => {
  await subscribed(db.sql, { tenant: 'other', at: Date.parse(start) });
  await db.sql`
    insert into billing.usage_total (tenant_id, subscription_id, feature_key, segment_start, window_start, quantity, events)
    select tenant_id, subscription_id, feature_key, starts_at, window_start, used, 1
    from billing.segment, (values ('seats', 2), ('calls', 7)) as use (feature_key, used)
    where tenant_id = 'other' and starts_at <= ${new Date(clock.now())} and ends_at > ${new Date(clock.now())}`;
  const grants = createGrants({ db, clock, revisions: createRevisions() });
  const used = async (tenant: string, key: string, app = 'default') =>
    (await grants.ofTenant(tenant, app, [key]))?.entitlementTo(key).used;
  expect(
    await Promise.all([
      ...[used('other', 'seats'), used('other', 'calls'), used('other', 'calls'), used('other', 'sso')],
      ...[used('acme', 'seats'), used('nobody', 'seats'), used('other', 'seats', 'elsewhere')],
    ]),
  ).toEqual([2, 7, 7, 0, 0, undefined, undefined]);
});

it('a subscription whose renewal is late is brought up to date first', async () => {
  const asked: string[] = [];
  const [, second] = acme.course.segments;
  const current = async (tenant: string, app: string) => {
    asked.push(`${tenant} ${app}`);
    const next = { start: second!.end, end: second!.end + 86_400_000 };
    await segmentStore(db.sql).replaceFrom(acme, next.start, [
      { ...second!, ...next, period: next, window: next },
    ]);
  };
  const grants = createGrants({ db, clock, revisions: createRevisions(), current });
  const window = async () => (await grants.ofTenant('acme', 'default', []))?.windowStart;
  expect([await window(), asked]).toEqual(['2026-02-15T10:00:00.000Z', []]);
  clock.turn(second!.end - clock.now());
  expect([await window(), asked]).toEqual(['2026-03-15T10:00:00.000Z', ['acme default']]);
  expect([await window(), asked]).toEqual(['2026-03-15T10:00:00.000Z', ['acme default']]);
  await db.sql`update billing.subscription set status = 'canceled'`;
  clock.turn('2027-01-01T00:00:00.000Z');
  const view = { app: 'default', tenant: undefined };
  expect((await grants.ofSubscription(view, acme.id, []))?.windowStart).toBe('2026-03-15T10:00:00.000Z');
  expect(asked).toHaveLength(1);
});
