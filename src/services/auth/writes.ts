import type { Changes } from '../../db/changes.ts';
import type { Database, Sql } from '../../db/index.ts';
import { emit as emitEvents, type Event, type Written } from '../../db/outbox.ts';

/** On whose behalf something is written: the tenant and app it belongs to, and who acts. */
export interface Author {
  readonly tenant: string;
  readonly app: string;
  readonly actor: string;
  /** Who acts as the actor; events then carry both. */
  readonly impersonatedBy?: string | null;
}

/** Whose credentials are to be looked at again: one session, all of a user, of an app, of a client, a grant, a token, or a scope of an app. */
export type ChangeKind = 'session' | 'user' | 'app' | 'client' | 'grant' | 'token' | 'scope';

/** One write in its transaction, and what it notes besides the rows. */
export interface Write extends Author {
  readonly sql: Sql;
  /** Notes that rights ended or became fewer: what was cached about them is forgotten in every process. */
  readonly changed: (kind: ChangeKind, id: string) => void;
  /** Notes an event by its full name, such as `user.created`. `data` never holds a secret. */
  readonly emit: (type: string, subject: string, data: object) => void;
}

/** Runs a write and answers what it returns. */
export type Writer = <T>(author: Author, run: (write: Write) => Promise<T>) => Promise<T>;

export interface WriterDeps {
  readonly db: Database;
  readonly changes: Changes;
  /** Makes deliveries of events for the webhooks that want them, in the transaction of the events. */
  readonly deliver: (sql: Sql, events: readonly (Event & Written)[]) => Promise<void>;
}

/**
 * Every write of the service goes through here: rows, changes, events and deliveries are committed together, and before the
 * answer this process has dropped what it kept of what changed.
 */
export const createWriter =
  ({ db, changes, deliver }: WriterDeps): Writer =>
  ({ tenant, app, actor, impersonatedBy = null }, run) =>
    db.transaction(async (sql) => {
      const noted: { kind: ChangeKind; id: string }[] = [];
      const events: Event[] = [];
      const both = impersonatedBy === null ? {} : { impersonated_by: impersonatedBy };
      const result = await run({
        sql,
        tenant,
        app,
        actor,
        impersonatedBy,
        changed: (kind, id) => void noted.push({ kind, id }),
        emit: (type, subject, data) =>
          void events.push({
            source: '/auth',
            type,
            subject,
            tenant,
            app,
            actor,
            data: { app_id: app, ...both, ...data },
          }),
      });
      const [first, ...rest] = events;
      if (first !== undefined) {
        const written = await emitEvents(sql, first, ...rest);
        await deliver(
          sql,
          events.map((event, at) => ({ ...event, ...written[at]! })),
        );
      }
      if (noted.length > 0) await changes.record(sql, ...noted);
      return result;
    });
