import type { Fragment } from 'postgres';
import type { Sql } from './sql.ts';

/** The records that a request reaches: those of one tenant of an app, or of all its tenants. */
export interface View {
  readonly app: string;
  /** Undefined means every tenant, which only the operator sees. */
  readonly tenant: string | undefined;
}

/** The condition for rows with the columns `tenant_id` and `app_id`. */
export const isInView = (sql: Sql, { app, tenant }: View): Fragment =>
  tenant === undefined ? sql`app_id = ${app}` : sql`app_id = ${app} and tenant_id = ${tenant}`;
