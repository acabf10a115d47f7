import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { serverBy, TestClock, tools } from '../testing.ts';

const tenant = 'acme';
let server: TestServer;
let api: ReturnType<typeof tools>;
const clock = new TestClock('2026-01-15T10:00:00Z');
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

it('a period that was changed a thousand times takes no more changes, but the subscription goes on', async () => {
  const subscription = await api.subscribe(tenant, await api.plan());
  // As if it had been changed every second.
  await server.db.sql`
    with first as (
      delete from billing.segment where tenant_id = ${tenant} and starts_at = ${subscription.starts_at} returning *
    )
    insert into billing.segment
      (tenant_id, subscription_id, app_id, starts_at, ends_at, kind, period_start, period_end, window_start, window_end, plan_id, revision,
        base_amount, base_plan_id, base_revision)
    select tenant_id, subscription_id, app_id, starts_at + n * interval '1 s',
      case n when 998 then ends_at else starts_at + (n + 1) * interval '1 s' end, kind, period_start, period_end, window_start,
      window_end, plan_id, revision, base_amount, base_plan_id, base_revision
    from first, generate_series(0, 998) as n`;
  clock.turn('2026-01-20T10:00:00Z');
  const ask = (what: string, body: object = {}) =>
    api.refusal('POST', `/billing/subscriptions/${subscription.id}/${what}`, { body });
  const refused = [400, 'invalid_state', 'subscription was changed too often in its billing period'];
  expect(await ask('pause')).toEqual(refused);
  expect(await ask('change-plan', { plan_id: (await api.plan()).id })).toEqual(refused);
  clock.turn('2026-02-15T10:00:00Z');
  expect((await ask('pause'))[0]).toBe(200);
  expect((await ask('resume'))[0]).toBe(200);
  expect((await ask('cancel', { immediately: true }))[0]).toBe(200);
});
