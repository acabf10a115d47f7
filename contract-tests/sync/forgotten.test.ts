/** What a server refuses that has forgotten deletions, and one without presence. It has a database of its own, in which a test makes it so. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type OwnDatabase, startDatabase } from '../database.ts';
import { type Api, connect } from '../harness.ts';
import { type Running, startServer } from '../process.ts';
import { targetOf } from '../targets.ts';
import { push, write } from './replicas.ts';

describe.skipIf(!targetOf('server'))('a server', () => {
  const breaches: string[] = [];
  let database: OwnDatabase;
  let server: Running;
  let api: Api;
  beforeAll(async () => {
    database = await startDatabase();
    server = await startServer({ databaseUrl: database.url, environment: { PLINTH_SYNC_PRESENCE: 'off' } });
    const { url, rootToken } = server;
    api = connect({ target: 'server', url, rootToken, onBreach: (breach) => breaches.push(breach) });
  });
  afterAll(async () => {
    await server.stop();
    await database.stop();
  });
  afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));

  it('that has forgotten deletions takes nothing from before: 410', async () => {
    const tenant = api.tenant();
    await push(tenant, 'phone-1', write('phone-1'));
    await database.run(
      `update sync.tables set horizon_hlc = '7fffffffffff-0000-x' where tenant_id = '${tenant.id}'`,
    );
    await tenant.refused(410, 'resync required', (plinth) =>
      push({ plinth }, 'phone-1', write('phone-1', { pk: 'unknown' })),
    );
  });

  it('without presence has none: 404', async () => {
    const disabled = 'presence is disabled';
    const body = { NodeID: 'phone-1', Topic: 'notes', Data: 1 };
    await api.tenant().refused(404, disabled, ({ sync }) => sync.presence.update({ body }));
    await api.tenant().refused(404, disabled, ({ sync }) => sync.presence.get({ topic: 'notes' }));
  });
});
