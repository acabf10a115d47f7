import type { Database, Sql } from '../../db/index.ts';
import { type Author, UnitOfWork } from '../../db/write.ts';

/** The record that an event is about. One that belongs to the app and not to a tenant has no tenant. */
export interface Subject {
  readonly id: string;
  readonly tenant_id?: string;
}

/** One write in its transaction, and what it records besides the rows. */
export interface Write<By extends Author = Author> {
  readonly sql: Sql;
  readonly context: By;
  /** Records an event of the tenant to which its subject belongs, whoever caused it. `data` never holds a secret. */
  readonly emit: (type: `webhooks.${string}`, subject: Subject, data: object) => void;
}

/** Runs a write and returns its result. */
export type Writer = <T, By extends Author>(context: By, run: (write: Write<By>) => Promise<T>) => Promise<T>;

/** Every write of the service that emits events goes through here: rows and events are committed together. */
export const createWriter =
  ({ db }: { readonly db: Database }): Writer =>
  (context, run) =>
    db.transaction(async (sql) => {
      const units = new Map<string, UnitOfWork>();
      const unitOf = (tenant: string) => {
        const unit = units.get(tenant) ?? new UnitOfWork(sql, { ...authorOf(context), tenant }, 'webhooks');
        units.set(tenant, unit);
        return unit;
      };
      const result = await run({
        sql,
        context,
        emit: (type, { id, tenant_id = context.tenant }, data) => unitOf(tenant_id).emit(type, id, data),
      });
      await Promise.all([...units.values()].map((unit) => unit.settle({})));
      return result;
    });

/** A context has getters, which a spread would lose. */
const authorOf = ({ tenant, app, actor }: Author): Author => ({ tenant, app, actor });
