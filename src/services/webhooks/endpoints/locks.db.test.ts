/** Tests that those who enable an endpoint and those who disable it for its failures do not wait for each other. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { tools } from '../testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['webhooks'], env: { PLINTH_WEBHOOKS_DISPATCH: 'off' } });
});
afterAll(() => server.close());

// On the embedded database a transaction has no other beside it.
test.runIf(inject('engine') === 'postgres')(
  'an endpoint is enabled while its failures disable it',
  async () => {
    const { id, tenant_id } = await tools(server).endpoint({ enabled: false });
    await server.db.sql`insert into webhooks.lane (endpoint_id, tenant_id) values (${id}, ${tenant_id})`;
    let answered: Promise<{ enabled: boolean }> | undefined;
    await server.db.transaction(async (sql) => {
      await sql`select from webhooks.lane where endpoint_id = ${id} for update`;
      answered = tools(server).send('PATCH', `/endpoints/${id}/enable`) as Promise<{ enabled: boolean }>;
      await until(async () => {
        const [waiting] = await server.db.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return waiting !== undefined;
      });
      await sql`update webhooks.endpoint set description = 'seen' where id = ${id}`;
    });
    expect(await answered).toMatchObject({ enabled: true, description: 'seen' });
  },
);
