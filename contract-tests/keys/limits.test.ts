/** Refusals that occur only at large numbers. The server under test has a separate database, prepared for this. */
import { describe, expect, inject, it } from 'vitest';
import { isPlinthError } from '../../sdk/src/index.ts';
import { ownServer } from '../own-server.ts';

const hasServer = inject('contract').targets.some(({ name }) => name === 'server');

describe.skipIf(!hasServer)('Limits of keys', () => {
  const own = ownServer();

  it('Scopes.delete: 409 when more than 10,000 keys hold it', async () => {
    const tenant = own.api.tenant();
    const { id } = await tenant.plinth.keys.scopes.create({ body: { name: 'read:users' } });
    await own.database.run(`
      insert into keys.keys
        (id, tenant_id, app_id, name, description, prefix, environment, hint, scopes, metadata, created_by)
      select 'key_' || lpad(n::text, 26, '0'), '${tenant.id}', 'default', 'k', '', 'sk', 'live', 'abcd',
        '{read:users}', '{}', 'root'
      from generate_series(1, 10001) as n`);
    await tenant.refused(409, 'scope is held by more than 10000 keys', ({ keys }) =>
      keys.scopes.delete({ scopeId: id }),
    );
  });

  it('Keys.validate, Usage.report: 429 with the time to wait while uses arrive faster than they are stored', async () => {
    const tenant = own.api.tenant();
    const { keys } = tenant.plinth;
    const { key } = await keys.keys.create({ body: { name: 'Reporting job' } });
    const records = Array.from({ length: 1000 }, () => ({ key_id: key.id }));
    const ask = () => keys.keys.validate({ body: { raw_key: 'unknown' } });
    const refusal = (error: unknown) => {
      if (!isPlinthError(error)) throw error;
      return { status: error.status, message: error.message, retryAfter: error.retryAfter };
    };
    const backlogIsFull = { status: 429, message: 'usage backlog is full', retryAfter: 1 };

    await own.database.run(`
      create function keys.slow() returns trigger language plpgsql as
        'begin perform pg_sleep(1); return new; end';
      create trigger slow before insert on keys.usage_journal for each row execute function keys.slow()`);
    // More reads than may wait: some have to be refused, and so does a validation while they wait.
    const reports = Promise.allSettled(
      Array.from({ length: 30 }, () => keys.usage.report({ body: { records } })),
    );
    await expect.poll(() => ask().catch(refusal), { timeout: 30_000, interval: 10 }).toEqual(backlogIsFull);

    await own.database.run('drop trigger slow on keys.usage_journal');
    const settled = await reports;
    const receipts = settled.flatMap((report) => (report.status === 'fulfilled' ? [report.value] : []));
    const refused = settled.flatMap((report) =>
      report.status === 'rejected' ? [refusal(report.reason)] : [],
    );
    expect(refused.length).toBeGreaterThan(0);
    expect(refused).toEqual(refused.map(() => backlogIsFull));
    expect(receipts).toEqual(receipts.map(() => ({ accepted: 1000, rejected: [] })));
    const stored = await keys.usage.aggregate();
    expect(stored[0]?.request_count).toBe(receipts.length * 1000);
    expect(await ask()).toMatchObject({ code: 'NOT_FOUND' });
  });
});
