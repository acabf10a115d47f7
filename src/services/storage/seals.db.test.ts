import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSealer } from '../../lib/seal.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { openStore } from './bytes/store-identity.ts';
import { credentialStore } from './credentials/credentials.store.ts';
import { openedSecret, sealedSecret } from './credentials/secrets.ts';
import { sealSweeps } from './seals.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: ['storage'] });
});
afterAll(() => db.close());

it('after a change of the master key everything is sealed anew, and the previous key can be forgotten', async () => {
  const [old, current] = [randomBytes(32), randomBytes(32)];
  const dir = join(db.options.dataDir, 'store');
  const { linkSecret } = await openStore({ sql: db.sql, sealer: createSealer(old), dir });
  const key = { tenant_id: 'acme', access_key_id: 'PLKQ3T5V7X2Z4B6D6F2H' };
  await credentialStore(db.sql).create('acme', {
    ...{ ...key, app_id: 'default', scopes: ['storage:read'], bucket_id: null, created_by: 'root' },
    secret: sealedSecret(createSealer(old), key, 'a secret'),
  });

  const [sweep] = sealSweeps({ db, sealer: createSealer(current, old) });
  for (const step of sweep!.steps) await step(500);

  const sealer = createSealer(current);
  expect((await openStore({ sql: db.sql, sealer, dir })).linkSecret).toEqual(linkSecret);
  const [kept] = await credentialStore(db.sql).sealedBy(createSealer(old, current).previousId!, 10);
  expect(openedSecret(sealer, kept!)).toBe('a secret');
});
