/** Tests that what one process erases is unreadable in another one at once. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { inTenant, tools } from '../testing.ts';

const services = ['keys', 'audit'];

// The embedded database belongs to one process.
describe.runIf(inject('engine') === 'postgres')('with two processes', () => {
  let db: ChildDatabase;
  let servers: ChildServer[] = [];
  beforeAll(async () => {
    db = await childDatabase(services);
    const env = {
      PLINTH_CONTRACT: 'fast',
      PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...db.env,
    };
    servers = await Promise.all([0, 1].map(() => childServer({ services, env })));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await db.remove();
  });

  it('an erasure in one counts at once in the other, also for what it has read before', async () => {
    const own = inTenant('processes');
    const [one, other] = servers.map(tools);
    for (let round = 0; round < 20; round++) {
      const event = await one!.event({ user_id: 'anna', subject_id: 'bert', metadata: { round } }, own);
      const path = `/events/${event.id}`;
      expect(await other!.get(event.id, own)).toEqual(event);
      await one!.send('POST', '/erasures', {
        ...own,
        body: { subject_id: 'bert', reason: 'asked', requested_by: 'dpo' },
      });
      const gone = { subject_id: null, metadata: null, erased: true };
      expect(await other!.send('GET', path, own)).toMatchObject({ ...gone, user_id: 'anna' });
      const { events } = await other!.list('?category=data&limit=1', own);
      expect(events).toMatchObject([{ id: event.id, ...gone }]);
      // Whoever is recorded afterwards in the other process has a new key there, too.
      const later = await other!.event({ subject_id: 'bert' }, own);
      expect(await one!.get(later.id, own)).toEqual(later);
    }
    expect(await one!.verify({}, own)).toMatchObject({ valid: true });
  });
});
