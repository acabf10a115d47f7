import { constrained } from '../../db/constraints.ts';
import type { Database, Sql } from '../../db/index.ts';
import { UnitOfWork } from '../../db/write.ts';
import type { Context } from '../../http/context.ts';
import { changeStore } from './changes.store.ts';
import type { Change } from './engine/types.ts';
import { constraints } from './errors.ts';
import type { Models } from './models.ts';
import { type Counter, tenantStore, type TenantState } from './tenants.store.ts';

/** One write of a tenant, in its transaction and under its row lock. Records everything that changes besides the rows. */
export interface Write {
  readonly sql: Sql;
  readonly tenant: string;
  readonly app: string;
  readonly actor: string;
  /** The revision that the records of this write carry. */
  readonly revision: number;
  /** The tenant's counters before the write, and the database's clock. */
  readonly before: TenantState;
  /** Registers changed records for the models of all processes. */
  change<Entity extends Change['entity'], Op extends Change['op']>(
    entity: Entity,
    op: Op,
    body: BodyOf<Change, Entity, Op>,
  ): void;
  /** Records how many rows were added (negative: removed). */
  count(counter: Counter, by: number): void;
  /** Records an event. */
  emit(type: `authz.${string}`, subject: string, data: object): void;
}

type BodyOf<Of, Entity, Op> = Of extends { entity: infer E; op: infer O; body: infer Body }
  ? [Entity, Op] extends [E, O]
    ? Body
    : never
  : never;

/** Runs a write and returns its result. Sets `X-Revision` to the revision after it. */
export type Writer = <T, Sent = void>(context: Caller, run: Run<T, Sent>, ahead?: Ahead<Sent>) => Promise<T>;

/** Does the same for callers that need the revision. */
export type Performer = <T, Sent = void>(
  context: Caller,
  run: Run<T, Sent>,
  ahead?: Ahead<Sent>,
) => Promise<{ result: T; revision: number }>;

type Run<T, Sent> = (tx: Write, sent: Sent) => Promise<T>;

/**
 * Statements sent right after the one that takes the tenant's lock, without a round trip of their own, and so before anything
 * is known about the tenant. `run` checks afterwards: a rejection rolls them back.
 */
type Ahead<Sent> = (sql: Sql) => Promise<Sent>;

export type Caller = Pick<Context, 'tenant' | 'app' | 'actor' | 'reply'>;

/** Maximum number of records in one change row. */
const recordsPerChange = 500;

/**
 * Every write of the service goes through here: one transaction that begins with the tenant's row lock and its next revision,
 * so that revisions follow the order of the commits and the checks of `run` cannot race. A run that records no change is rolled
 * back and raises no revision. This process's own model has the change before the answer is sent.
 */
export function createWriter(
  db: Database,
  models: Pick<Models, 'applied'>,
): { perform: Performer; write: Writer } {
  const perform: Performer = async (context, run, ahead) => {
    const { changes, ...outcome } = await commit(db, context, run, ahead);
    if (changes.length > 0) await models.applied(context.tenant, outcome.revision, changes);
    context.reply.header('X-Revision', outcome.revision);
    return outcome;
  };
  return { perform, write: async (...call) => (await perform(...call)).result };
}

interface Outcome<T> {
  readonly result: T;
  readonly revision: number;
  readonly changes: readonly Change[];
}

async function commit<T, Sent>(
  db: Database,
  caller: Caller,
  run: Run<T, Sent>,
  ahead: Ahead<Sent> = async () => undefined as Sent,
): Promise<Outcome<T>> {
  let unchanged: Outcome<T> | undefined;
  try {
    return await constrained(
      constraints,
      db.transaction(async (sql) => {
        const [before, sent] = await Promise.all([tenantStore(sql).raise(caller.tenant), ahead(sql)]);
        const { tx, finish } = begin(sql, caller, before);
        const result = await run(tx, sent);
        const outcome = { result, revision: before.revision, changes: await finish(db) };
        if (outcome.changes.length > 0) return outcome;
        unchanged = { ...outcome, revision: before.revision - 1 };
        throw new NothingChanged();
      }),
    );
  } catch (error) {
    if (unchanged && error instanceof NothingChanged) return unchanged;
    throw error;
  }
}

/** Thrown to roll back a transaction that already has its answer. */
class NothingChanged extends Error {}

function begin(sql: Sql, caller: Caller, before: TenantState) {
  const { tenant, app, actor } = caller;
  const { revision } = before;
  const unit = new UnitOfWork(sql, caller, 'authz');
  const changes: Change[] = [];
  const counts: Partial<Record<Counter, number>> = {};
  const tx: Write = {
    ...{ sql, tenant, app, actor, revision, before },
    change(entity, op, body) {
      for (let at = 0; at < body.length; at += recordsPerChange)
        changes.push({ revision, entity, op, body: body.slice(at, at + recordsPerChange) } as Change);
    },
    count(counter, by) {
      if (by !== 0) counts[counter] = (counts[counter] ?? 0) + by;
    },
    emit: (...event) => unit.emit(...event),
  };

  /** Stores what was recorded. */
  async function finish(db: Database): Promise<Change[]> {
    if (changes.length === 0) return changes;
    const also = [
      changeStore(sql).append(tenant, revision, changes),
      db.notices.send(sql, 'authz', `${tenant} ${revision}`),
    ];
    if (Object.keys(counts).length > 0) also.push(tenantStore(sql).count(tenant, counts));
    await unit.settle({ also });
    return changes;
  }

  return { tx, finish };
}
