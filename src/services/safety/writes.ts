import type { Changes } from '../../db/changes.ts';
import { constrained } from '../../db/constraints.ts';
import type { Database, Sql } from '../../db/index.ts';
import { UnitOfWork } from '../../db/write.ts';
import type { Context } from '../../http/context.ts';
import { appStore } from './apps.store.ts';
import { constraints } from './errors.ts';
import type { Lines } from './lines.ts';

/** One write of an app's rules in its transaction, under the lock of the app. */
export interface Write {
  readonly sql: Sql;
  readonly app: string;
  /** The app's revision after the write, which its records carry. */
  readonly revision: number;
  /** Records an event. */
  readonly emit: (type: `safety.${string}`, subject: string, data: object) => void;
  /** Records that the assignments of a tenant change. */
  readonly reassigned: (tenant: string) => void;
}

/** Runs a write, sets `X-Revision` to the revision after it, and returns its result. */
export type Writer = <T>(context: Context, run: (write: Write) => Promise<T>) => Promise<T>;

/** The assignments of a tenant in an app, as a subject of changes. */
export const assignmentsOf = (tenant: string, app: string) => ({
  kind: 'assignments',
  id: `${tenant} ${app}`,
});

interface WriterDeps {
  readonly db: Database;
  readonly changes: Changes;
  readonly lines: Lines;
}

/**
 * Every write of rules goes through here: one transaction that begins with the lock of the app's row and its next revision, so that
 * what `run` checks cannot change meanwhile. Before the answer is sent, this process has dropped what it had compiled.
 */
export const createWriter =
  ({ db, changes, lines }: WriterDeps): Writer =>
  async (context, run) => {
    const { app } = context;
    const { result, revision } = await constrained(
      constraints,
      lines.run(`app ${app}`, () =>
        db.transaction(async (sql) => {
          const revision = await appStore(sql).raise(app);
          const unit = new UnitOfWork(sql, context, 'safety');
          unit.changed({ kind: 'app', id: app });
          const result = await run({
            ...{ sql, app, revision },
            emit: (...event) => unit.emit(...event),
            reassigned: (tenant) => unit.changed(assignmentsOf(tenant, app)),
          });
          await unit.settle({ log: changes });
          return { result, revision };
        }),
      ),
    );
    context.reply.header('X-Revision', revision);
    return result;
  };
