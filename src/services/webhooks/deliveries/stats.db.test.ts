import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import type { Statistics } from '../../../../generated/webhooks/types.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { sweeps } from '../dispatch/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { settings } from '../settings.ts';
import { delivering } from './testing.ts';

const one = delivering();

/** The numbers as the tables have them. */
async function counted(tenant?: string): Promise<Statistics> {
  const { sql } = one.server.db;
  const mine = tenant === undefined ? sql`true` : sql`tenant_id = ${tenant}`;
  const [row] = await sql<[{ statistics: Statistics }]>`
    with everything as (
      select state from webhooks.delivery where ${mine} union all select state from webhooks.delivery_done where ${mine}
    ),
    of_state as (
      select json_object_agg(state, (select count(*) from everything where everything.state = known.state)) as counts
      from unnest(array['pending', 'delivering', 'delivered', 'failed', 'cancelled']) as known(state)
    )
    select json_build_object(
      'events', (select count(*) from webhooks.event where ${mine}),
      'deliveries', (select count(*) from everything),
      'dlq', (select count(*) from webhooks.dlq where ${mine}),
      'endpoints', (select count(*) from webhooks.endpoint where ${mine} and deleted_at is null),
      'deliveries_by_state', (select counts from of_state),
      'endpoints_enabled', (select count(*) from webhooks.endpoint where ${mine} and deleted_at is null and enabled),
      'endpoints_open', (
        select count(*) from webhooks.endpoint join webhooks.lane on lane.endpoint_id = endpoint.id
        where endpoint.tenant_id in (select tenant_id from webhooks.endpoint where ${mine}) and deleted_at is null and breaker <> 'closed'
      )
    ) as statistics`;
  return row.statistics;
}

it('the statistics are the numbers of the tables, whatever happened', async () => {
  const tenant = 'counted';
  const as = { tenant };
  const [good, bad, gone] = [
    await one.endpoint({}, as),
    await one.endpoint({ max_attempts: 1, headers: { 'x-fails': '1' } }, as),
    await one.endpoint({}, as),
  ];
  await one.endpoint({ enabled: false }, as);
  one.receiver.answer(({ headers }) => (headers['x-fails'] === '1' ? 500 : 200));
  for (let made = 0; made < 6; made++) await one.tools.event({ type: 'invoice.paid' }, as);
  await one.tools.event({ type: 'invoice.paid' }, { tenant: 'somebody-else' });
  const state = (name: string) => async () =>
    ((await one.tools.send('GET', '/stats', as)) as Statistics).deliveries_by_state[
      name as keyof Statistics['deliveries_by_state']
    ];
  await expect.poll(state('failed')).toBe(6);
  await expect.poll(state('delivered')).toBe(12);
  const [letter] = await one.tools.send('GET', '/dlq?limit=1', as);
  await one.tools.send('POST', `/dlq/${letter.id}/replay`, as);
  await expect.poll(state('failed')).toBe(7);
  await one.tools.send('DELETE', `/endpoints/${gone.id}`, as);
  await one.tools.send('POST', '/dlq/purge', { ...as, body: { older_than: '0s', endpoint_id: bad.id } });
  one.receiver.answer(() => 500);
  await one.tools.event({ type: 'invoice.lost' }, as);
  await expect.poll(state('failed')).toBe(8);
  expect(good.enabled).toBe(true);

  // Events of the platform keep arriving, so that the two may be read at different moments.
  const agree = async (path: string, options: object, of?: string) =>
    await expect
      .poll(async () => [await one.tools.send('GET', path, options), await counted(of)])
      .toSatisfy(([shown, real]: unknown[]) => isDeepStrictEqual(shown, real));
  const check = async () => {
    await agree('/stats', as, tenant);
    await agree('/stats', {});
    await agree(`/stats?tenant_id=${tenant}`, {}, tenant);
  };
  await check();
  const all = sweeps({ db: one.server.db, settings: readSettings(settings, {}) });
  for (const sweep of all) await runSweep(sweep);
  await check();
  const unfolded = async () => {
    for (const sweep of all) await runSweep(sweep);
    return [
      ...(await one.server.db.sql`
        select tenant_id, kind from webhooks.tally group by tenant_id, kind having count(*) > 1`),
    ];
  };
  await expect.poll(unfolded).toEqual([]);
  expect(await one.tools.send('GET', '/dlq/count', as)).toEqual({ count: 1 });
});
