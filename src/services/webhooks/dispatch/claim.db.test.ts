import { describe, expect, inject, it } from 'vitest';
import { until } from '../../../testing/until.ts';
import { claim } from './claim.store.ts';
import { laneStore } from './lanes.store.ts';
import { Places } from './places.ts';
import { dispatching } from './testing/dispatching.ts';

const one = dispatching();

/** The embedded database has one connection, so there one claim always follows the other. */
describe.runIf(inject('engine') === 'postgres')('the claim of one process', () => {
  it('counts what another has started since it began to look', async () => {
    const { sql } = one.db;
    const endpoint = await one.make.endpoint({ url: one.receiver.url, max_concurrency: 3 });
    await one.make.deliveries(endpoint, 8);
    await laneStore(sql).create([endpoint]);
    await sql`update webhooks.lane set window_size = 3`;
    // Each look at the lanes takes a while, in which the other process starts what the endpoint allows.
    await sql`alter table webhooks.lane rename to lane_itself`;
    await sql`
      create view webhooks.lane as select * from webhooks.lane_itself where (select pg_sleep(0.5)) is not null`;
    const lanes = [{ endpointId: endpoint, after: '' }];
    const claimed = claim(sql, {
      leaseId: 'lease_late',
      lanes,
      count: 8,
      shares: {
        left: 8,
        rules: new Places(8).rules,
        unproven: 8,
        unprovenOfTenant: 8,
        inFlight: new Map(),
      },
    });
    await until(async () => {
      const sleeping =
        await sql`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
      return sleeping.length > 0;
    });
    await sql`
      update webhooks.delivery set state = 'delivering', lease_id = 'lease_early'
      where id in (select id from webhooks.delivery limit 2)`;
    const [lane] = await claimed.finally(async () => {
      await sql`drop view webhooks.lane`;
      await sql`alter table webhooks.lane_itself rename to lane`;
    });
    expect(lane).toMatchObject({ left: 0, more: true });
    expect(lane!.deliveries).toHaveLength(1);
  });
});
