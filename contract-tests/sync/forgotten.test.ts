/** What a server refuses that has forgotten deletions, and one without presence. It has a database of its own, in which a test makes it so. */
import { describe, it } from 'vitest';
import { targetOf } from '../targets.ts';
import { ownServer } from '../own-server.ts';
import { push, write } from './replicas.ts';

describe.skipIf(!targetOf('server'))('a server', () => {
  const own = ownServer({ PLINTH_SYNC_PRESENCE: 'off' });

  it('that has forgotten deletions takes nothing from before: 410', async () => {
    const tenant = own.api.tenant();
    await push(tenant, 'phone-1', write('phone-1'));
    await own.database.run(
      `update sync.tables set horizon_hlc = '7fffffffffff-0000-x' where tenant_id = '${tenant.id}'`,
    );
    await tenant.refused(410, 'resync required', (plinth) =>
      push({ plinth }, 'phone-1', write('phone-1', { pk: 'unknown' })),
    );
  });

  it('without presence has none: 404', async () => {
    const disabled = 'presence is disabled';
    const body = { NodeID: 'phone-1', Topic: 'notes', Data: 1 };
    await own.api.tenant().refused(404, disabled, ({ sync }) => sync.presence.update({ body }));
    await own.api.tenant().refused(404, disabled, ({ sync }) => sync.presence.get({ topic: 'notes' }));
  });
});
