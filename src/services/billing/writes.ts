import { constrained } from '../../db/constraints.ts';
import type { Database, Sql } from '../../db/index.ts';
import { type Author, UnitOfWork } from '../../db/write.ts';
import { constraints } from './errors.ts';

/** The record that an event is about. One that belongs to the app and not to a tenant has no tenant. */
export interface Subject {
  readonly id: string;
  readonly tenant_id?: string;
}

/** One write in its transaction, and what it records besides the rows. */
export interface Write {
  readonly sql: Sql;
  readonly app: string;
  readonly author: Author;
  /** Records an event of the tenant to which its subject belongs, whoever caused it. */
  readonly emit: (type: `billing.${string}`, subject: Subject, data: object) => void;
  /** What has to happen once the write is committed. It must not fail. */
  readonly afterwards: (act: () => void) => void;
}

/** Runs a write and returns its result. */
export type Writer = <T>(author: Author, run: (write: Write) => Promise<T>) => Promise<T>;

/** Who acts where time alone does. */
export const system = (tenant: string, app: string): Author => ({ tenant, app, actor: 'system' });

/** Every write of the service but the ingest of usage goes through here: rows and events are committed together. */
export const createWriter =
  ({ db }: { readonly db: Database }): Writer =>
  async (context, run) => {
    const acts: (() => void)[] = [];
    // A context has getters, which a spread would lose.
    const author: Author = { tenant: context.tenant, app: context.app, actor: context.actor };
    const result = await constrained(
      constraints,
      db.transaction(async (sql) => {
        acts.length = 0;
        const units = new Map<string, UnitOfWork>();
        const unitOf = (tenant: string) => {
          const unit = units.get(tenant) ?? new UnitOfWork(sql, { ...author, tenant }, 'billing');
          units.set(tenant, unit);
          return unit;
        };
        const result = await run({
          sql,
          app: author.app,
          author,
          emit: (type, { id, tenant_id = author.tenant }, data) => unitOf(tenant_id).emit(type, id, data),
          afterwards: (act) => void acts.push(act),
        });
        for (const unit of units.values()) await unit.settle({});
        return result;
      }),
    );
    for (const act of acts) act();
    return result;
  };
