import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { testSealer } from '../../../testing/server.ts';
import { openStore } from './store-identity.ts';

let db: TestDatabase;
let other: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: ['storage'] });
  other = await testDatabase({ services: ['storage'] });
});
afterAll(() => Promise.all([db.close(), other.close()]));

const open = ({ sql, options }: TestDatabase, name: string) =>
  openStore({ sql, sealer: testSealer, dir: join(options.dataDir, name) });

it('a database and a directory belong together from the first start on', async () => {
  const started = await Promise.all([open(db, 'store'), open(db, 'store')]);
  expect(started[0].linkSecret).toEqual(started[1].linkSecret);
  expect(await open(db, 'store')).toEqual(started[0]);

  await mkdir(join(db.options.dataDir, 'empty'));
  await expect(open(db, 'empty')).rejects.toThrow(/^PLINTH_STORAGE_DIR must .* holds no store$/);
  await open(other, 'store');
  await rm(join(db.options.dataDir, 'empty'), { recursive: true });
  await cp(join(other.options.dataDir, 'store'), join(db.options.dataDir, 'foreign'), { recursive: true });
  await expect(open(db, 'foreign')).rejects.toThrow(/^PLINTH_STORAGE_DIR must .* belongs to another one$/);
});
