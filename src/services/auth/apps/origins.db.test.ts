import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createChanges } from '../../../db/changes.ts';
import { testDatabase, type TestDatabase } from '../../../testing/database.ts';
import { appStore } from '../directory/apps.store.ts';
import { initialSettings } from '../directory/first-app.ts';
import { createOrigins } from './origins.ts';

const log = pino({ level: 'silent' });
const origin = 'https://app.example.com';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: ['auth'] });
});
afterAll(() => db.close());

it('the origins of an app are known as soon as its change is', async () => {
  const changes = createChanges({ db, schema: 'auth', log });
  const origins = createOrigins({ db, changes, log });
  await changes.start();
  await origins.load();
  expect(origins.has(origin)).toBe(false);
  await db.transaction(async (sql) => {
    await appStore(sql).insertOnce({
      id: 'app_1',
      tenant_id: 'acme',
      name: 'App',
      slug: 'app',
      is_default: true,
      settings: { ...initialSettings, allowed_origins: ['https://other.example.com', origin] },
    });
    await changes.record(sql, { kind: 'app', id: 'app_1' });
  });
  await expect.poll(() => origins.has(origin)).toBe(true);
  expect(origins.has('https://app.example.com.evil.example')).toBe(false);
  await changes.stop();
});
