import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../testing/database.ts';
import type { RecordedChange } from './changes.ts';
import { UnitOfWork } from './write.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase({ services: ['keys'] });
});
afterAll(() => db.close());

const author = { tenant: 't-1', app: 'app-1', actor: 'user:u-1' };
const told = (tenant: string) => db.sql<{ type: string; subject: string; actor: string; data: unknown }[]>`
  select type, subject, actor, data from keys.outbox where tenant_id = ${tenant} order by seq`;

describe('a unit of work', () => {
  it('stores its events with the author, in the order of the calls', async () => {
    await db.transaction(async (sql) => {
      const unit = new UnitOfWork(sql, author, 'keys');
      unit.emit('keys.created', 'k-1', { name: 'first' });
      unit.emit('keys.revoked', 'k-1', {});
      await unit.settle({});
    });
    expect(await told('t-1')).toEqual([
      { type: 'keys.created', subject: 'k-1', actor: 'user:u-1', data: { name: 'first' } },
      { type: 'keys.revoked', subject: 'k-1', actor: 'user:u-1', data: {} },
    ]);
  });

  it('stores nothing where the transaction fails', async () => {
    const failed = db.transaction(async (sql) => {
      const unit = new UnitOfWork(sql, { ...author, tenant: 't-2' }, 'keys');
      unit.emit('keys.created', 'k-2', {});
      await unit.settle({ also: [sql`select 1 / 0`] });
    });
    await expect(failed).rejects.toThrow(/zero/);
    expect(await told('t-2')).toEqual([]);
  });

  it('hands its changes to the log, all at once', async () => {
    const recorded: RecordedChange[][] = [];
    const log = { record: async (_: unknown, ...changes: RecordedChange[]) => void recorded.push(changes) };
    await db.transaction(async (sql) => {
      const unit = new UnitOfWork(sql, author, 'keys');
      unit.changed({ kind: 'key', id: 'k-1' });
      unit.changed({ kind: 'policy', id: 'p-1' });
      await unit.settle({ log });
    });
    expect(recorded).toEqual([
      [
        { kind: 'key', id: 'k-1' },
        { kind: 'policy', id: 'p-1' },
      ],
    ]);
  });

  it('does not lose a change for want of a log', async () => {
    const unit = new UnitOfWork(db.sql, author, 'keys');
    unit.changed({ kind: 'key', id: 'k-1' });
    await expect(unit.settle({})).rejects.toThrow('changes need a log');
  });
});
