import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import { type Proxy, proxyTo } from '../testing/proxy.ts';
import { isConnectionError, toDomainError } from './errors.ts';
import { createNotices } from './notices.ts';
import { type Backend, openServer } from './server.ts';

const log = pino({ level: 'silent' });

describe.runIf(inject('engine') === 'postgres')('a server that goes away', () => {
  let db: TestDatabase;
  let proxy: Proxy;
  let backend: Backend;
  beforeAll(async () => {
    db = await testDatabase();
    proxy = await proxyTo(db.options.url ?? '');
    backend = await openServer({
      url: proxy.url,
      log,
      limits: { connect: 300, statement: 300, silence: 600, close: 5_000 },
    });
  });
  beforeEach(() => proxy.restore());
  afterAll(async () => {
    await backend.close();
    await proxy.close();
    await db.close();
  });

  const one = () => backend.pool`select 1 as one`;
  const back = () =>
    expect.poll(() => one().catch(() => undefined), { timeout: 10_000 }).toEqual([{ one: 1 }]);

  test('statements fail as unavailable while it is stopped, and work when it is back', async () => {
    await back();
    await proxy.cut();
    for (let tries = 0; tries < 30; tries++) {
      const error = await one().catch(toDomainError);
      expect(error).toMatchObject({ kind: 'unavailable', message: 'store unavailable', retryAfter: 1 });
    }
    await proxy.restore();
    await back();
  });

  test('a transaction in flight fails and leaves nothing', async () => {
    await back();
    await backend.pool`create table if not exists rows (id int)`;
    const cut = backend.lanes.transaction(async (sql) => {
      await sql`insert into rows (id) values (1)`;
      await proxy.cut();
      await sql`insert into rows (id) values (2)`.catch(() => {});
      await sql`insert into rows (id) values (3)`.catch(() => {});
      await proxy.restore();
      await sql`insert into rows (id) values (4)`;
    });
    expect(isConnectionError(await cut.catch((error: unknown) => error))).toBe(true);
    await proxy.restore();
    await back();
    expect(await backend.pool`select id from rows`).toEqual([]);
  });

  test('a server that hangs is given up: more statements than connections all end', async () => {
    await back();
    proxy.freeze();
    const errors = await Promise.all(
      Array.from({ length: 25 }, () => one().catch((error: unknown) => error)),
    );
    expect(errors.every(isConnectionError)).toBe(true);
    await proxy.restore();
    await back();
  });

  test('a statement that takes too long is stopped by the server', async () => {
    await back();
    const error = await backend.pool`select pg_sleep(5)`.catch(toDomainError);
    expect(error).toMatchObject({ kind: 'unavailable', message: 'store busy' });
  });

  test('maintenance has no time limits', async () => {
    expect(await backend.maintenance((sql) => sql`select pg_sleep(0.8)::text as slept`)).toEqual([
      { slept: '' },
    ]);
  });

  test('listening begins again by itself and says that something may have been missed', async () => {
    await back();
    const notices = createNotices({ listener: backend.listener, after: () => {}, log });
    const heard: string[] = [];
    let gaps = 0;
    notices.listen(
      'plinth_gap',
      (payload) => heard.push(payload),
      () => gaps++,
    );
    await expect.poll(() => gaps).toBe(1);
    await proxy.cut();
    await db.notices.send(db.sql, 'plinth_gap', 'lost');
    await proxy.restore();
    await expect.poll(() => gaps, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    await db.notices.send(db.sql, 'plinth_gap', 'heard');
    await expect.poll(() => heard).toEqual(['heard']);
    await notices.close();
  });

  test('a server that cannot be reached is unavailable at the start', async () => {
    await proxy.cut();
    await expect(openServer({ url: proxy.url, log })).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('closing ends although the server does not come back', async () => {
    const lost = await openServer({ url: proxy.url, log });
    await lost.lanes.transaction((sql) => sql`select 1`);
    await proxy.cut();
    await expect(lost.pool`select 1`.catch(toDomainError)).resolves.toMatchObject({ kind: 'unavailable' });
    await lost.close();
  });
});
