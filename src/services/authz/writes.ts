import { constrained } from '../../db/constraints.ts';
import type { Database, Sql } from '../../db/index.ts';
import { emit, type Event } from '../../db/outbox.ts';
import type { Context } from '../../http/context.ts';
import { changeStore } from './changes.store.ts';
import type { Change } from './engine/types.ts';
import { constraints } from './errors.ts';
import type { Models } from './models.ts';
import { type Counter, tenantStore, type TenantState } from './tenants.store.ts';

/** One write of a tenant, in its transaction and behind its row lock. Records what changes besides the rows. */
export interface Write {
  readonly sql: Sql;
  readonly tenant: string;
  readonly app: string;
  readonly actor: string;
  /** The revision that the records of this write carry. */
  readonly revision: number;
  /** How many of each the tenant had before, and the database's clock. */
  readonly before: TenantState;
  /** Notes changed records for the models of all processes. */
  change<Entity extends Change['entity'], Op extends Change['op']>(
    entity: Entity,
    op: Op,
    body: BodyOf<Change, Entity, Op>,
  ): void;
  /** Notes how many rows were added (negative: removed). */
  count(counter: Counter, by: number): void;
  /** Notes an event, `authz.<what>`. */
  emit(what: string, subject: string, data: object): void;
}

type BodyOf<Of, Entity, Op> = Of extends { entity: infer E; op: infer O; body: infer Body }
  ? [Entity, Op] extends [E, O]
    ? Body
    : never
  : never;

/** Runs a write and answers what it returns; `X-Revision` tells the revision after it. */
export type Writer = <T, Sent = void>(context: Caller, run: Run<T, Sent>, ahead?: Ahead<Sent>) => Promise<T>;

/** The same for those who need to know the revision. */
export type Performer = <T, Sent = void>(
  context: Caller,
  run: Run<T, Sent>,
  ahead?: Ahead<Sent>,
) => Promise<{ result: T; revision: number }>;

type Run<T, Sent> = (tx: Write, sent: Sent) => Promise<T>;

/**
 * Statements that leave right behind the one that takes the tenant's lock, without a round trip of their own, and so
 * before anything is known of the tenant. `run` judges afterwards: what it refuses is rolled back.
 */
type Ahead<Sent> = (sql: Sql) => Promise<Sent>;

export type Caller = Pick<Context, 'tenant' | 'app' | 'actor' | 'reply'>;

/** Records of one change row. */
const CHUNK = 500;

/**
 * Every write of the service goes through here: one transaction that begins with the tenant's row lock and its next
 * revision, so that revisions are in the order of the commits and what `run` checks cannot race. A run that notes no
 * change is rolled back and raises nothing. Before the answer this process's own model has the change.
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

/** Thrown to roll a transaction back that has an answer. */
class NothingChanged extends Error {}

function begin(sql: Sql, { tenant, app, actor }: Caller, before: TenantState) {
  const { revision } = before;
  const changes: Change[] = [];
  const counts: Partial<Record<Counter, number>> = {};
  const events: Event[] = [];
  const tx: Write = {
    ...{ sql, tenant, app, actor, revision, before },
    change(entity, op, body) {
      for (let at = 0; at < body.length; at += CHUNK)
        changes.push({ revision, entity, op, body: body.slice(at, at + CHUNK) } as Change);
    },
    count(counter, by) {
      if (by !== 0) counts[counter] = (counts[counter] ?? 0) + by;
    },
    emit(what, subject, data) {
      events.push({ source: '/authz', type: `authz.${what}`, subject, tenant, app, actor, data });
    },
  };

  /** Stores what was noted. The statements leave together and need one round trip. */
  async function finish(db: Database): Promise<Change[]> {
    if (changes.length === 0) return changes;
    const [first, ...rest] = events;
    await Promise.all([
      changeStore(sql).append(tenant, revision, changes),
      Object.keys(counts).length > 0 && tenantStore(sql).count(tenant, counts),
      first && emit(sql, first, ...rest),
      db.notices.send(sql, 'authz', `${tenant} ${revision}`),
    ]);
    return changes;
  }

  return { tx, finish };
}
