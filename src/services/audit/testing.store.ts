import type { Database, Sql } from '../../db/index.ts';

/** Changes the database behind the back of its triggers, as somebody with all rights there could. */
export const tamper = (db: Pick<Database, 'transaction'>, change: (sql: Sql) => Promise<unknown>) =>
  db.transaction(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await change(sql);
  });

/** Keeps the service's events in its outbox, as a consumer that has not had them would. */
export const keepEvents = ({ sql }: Pick<Database, 'sql'>) =>
  sql`insert into plinth.relay_positions (service, consumer) values ('audit', 'test')`;
