import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { oauthTools } from '../testing/oauth.ts';
import { closeReceivers, hangingReceiver, receiver } from '../testing/webhooks.ts';

let server: TestServer;
let model: string;
beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  ({ id: model } = await oauthTools(server).client());
});
afterAll(() => server.close());
afterEach(async () => {
  closeReceivers();
  await server.db.sql`delete from auth.logouts`;
});

const patience = { timeout: 20_000 };

/** Makes clients of a tenant, and notes that so many sessions of each have ended. */
async function logouts(tenant: string, clients: number, each: number, backchannel_logout_uri: string | null) {
  await server.db.sql`
    with made as (
      insert into auth.clients
      select (jsonb_populate_record(
        clients, jsonb_build_object('tenant_id', ${tenant}::text, 'id', 'client_' || nth, 'backchannel_logout_uri', ${backchannel_logout_uri}::text)
      )).*
      from auth.clients, generate_series(1, ${clients}::integer) as nth where id = ${model}
      returning tenant_id, id
    )
    insert into auth.logouts (tenant_id, client_id, sid, user_id)
    select tenant_id, id, 'sid_' || nth, 'user_1' from made, generate_series(1, ${each}::integer) as nth`;
}

it('a client that does not answer has eight requests at once, and the others are told', async () => {
  const hanging = await hangingReceiver();
  await logouts('one', 1, 100, hanging.url);
  await vi.waitFor(() => expect(hanging.requests()).toBe(8), patience);
  const { url, received } = await receiver(200);
  await logouts('one-more', 1, 20, url);
  await vi.waitFor(() => expect(received).toHaveLength(20), patience);
  expect(hanging.requests()).toBe(8);
});

it('clients of a tenant that do not answer leave half of the places to those of other tenants', async () => {
  const hanging = await hangingReceiver();
  await logouts('many', 20, 8, hanging.url);
  await vi.waitFor(() => expect(hanging.requests()).toBe(32), patience);
  const { url, received } = await receiver(200);
  await logouts('other', 2, 20, url);
  await vi.waitFor(() => expect(received).toHaveLength(40), patience);
  expect(hanging.requests()).toBe(32);
});

it('a client without an address is not told', async () => {
  await logouts('silent', 1, 1, null);
  const { url, received } = await receiver(200);
  await logouts('told', 1, 1, url);
  await vi.waitFor(() => expect(received).toHaveLength(1), patience);
  const rows = await server.db.sql`select tenant_id, attempts from auth.logouts where tenant_id = 'silent'`;
  expect(rows).toEqual([{ tenant_id: 'silent', attempts: 0 }]);
});
