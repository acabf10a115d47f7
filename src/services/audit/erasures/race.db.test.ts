/** Tests that an event that is recorded during an erasure is either erased or readable, never lost by accident. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'], strict: false });
  api = tools(server);
});
afterAll(() => server.close());

const own = inTenant('race');

it('200 rounds', { timeout: 90_000 }, async () => {
  const body = { subject_id: 'anna', reason: 'asked', requested_by: 'dpo' };
  const events = new Map<string, number>();
  let affected = 0;
  for (let round = 0; round < 200; round++) {
    const record = async () => {
      const { id, sequence } = await api.event({ user_id: 'anna', metadata: { round } }, own);
      events.set(id, sequence);
    };
    const erase = async () => {
      const { events_affected } = await api.send('POST', '/erasures', { ...own, body });
      affected += events_affected as number;
    };
    await Promise.all(round % 2 === 0 ? [record(), erase(), record()] : [erase(), record(), record()]);
  }
  const acts = await walk('?category=audit&limit=1000&order=asc');
  const last = Math.max(...acts.map(({ sequence }) => sequence));
  let erased = 0;
  for (const event of await walk('?category=data&limit=1000')) {
    const isErased = events.get(event.id)! < last;
    erased += isErased ? 1 : 0;
    expect([event.sequence, event.erased, event.user_id, event.metadata === null]).toEqual([
      ...[event.sequence, isErased],
      ...(isErased ? [null, true] : ['anna', false]),
    ]);
  }
  expect(affected).toBe(erased);
  expect(await api.verify({}, own)).toMatchObject({ valid: true, erased, verified: 600 });
});

async function walk(query: string) {
  const page = await api.list(query, own);
  expect(page.next_cursor).toBeNull();
  return page.events;
}
