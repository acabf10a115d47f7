import type { Scope } from '../../../generated/keys/types.ts';
import { constrained } from '../../db/constraints.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Order, type Window } from '../../db/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { constraints } from './errors.ts';

/** The order of the list. A name occurs once in a tenant. */
export const byName = { columns: { name: 'string' }, direction: 'asc' } as const satisfies Order;

export type NewScope = Omit<Scope, 'created_at'>;

/** Every statement about scopes. */
export const scopeStore = (sql: Sql) => ({
  async insert(scope: NewScope): Promise<Scope> {
    const [inserted] = await constrained(
      constraints,
      sql<[Scope]>`
        insert into keys.scopes ${sql(scope, 'id', 'tenant_id', 'app_id', 'name', 'description')}
        returning ${columns(sql)}`,
    );
    return inserted;
  },

  async get(tenant: string, id: string): Promise<Scope> {
    const [scope] = await sql<Scope[]>`
      select ${columns(sql)} from keys.scopes where tenant_id = ${tenant} and id = ${id}`;
    if (!scope) throw NotFound('scope');
    return scope;
  },

  /** Returns scopes by name, and one more than `limit` when more follow. */
  async list(tenant: string, window: Window<typeof byName>): Promise<Scope[]> {
    return await sql<Scope[]>`
      select ${columns(sql)}
      from keys.scopes
      where tenant_id = ${tenant} ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  async delete(tenant: string, id: string): Promise<Scope> {
    const [scope] = await sql<Scope[]>`
      delete from keys.scopes where tenant_id = ${tenant} and id = ${id} returning ${columns(sql)}`;
    if (!scope) throw NotFound('scope');
    return scope;
  },

  /** Registers the names that are not registered yet. Registered names stay unchanged. */
  async register(tenant: string, app: string, names: readonly string[]): Promise<void> {
    await sql`
      insert into keys.scopes (id, tenant_id, app_id, name, description)
      select id, ${tenant}, ${app}, name, ''
      from unnest(${names.map(() => newId('kscp'))}::text[], ${[...names]}::text[]) as scope(id, name)
      order by name
      on conflict on constraint scopes_name do nothing`;
  },

  /** Returns the names that are registered. They stay registered until the end of the transaction. */
  async hold(tenant: string, names: readonly string[]): Promise<string[]> {
    const held = await sql<{ name: string }[]>`
      select name from keys.scopes
      where tenant_id = ${tenant} and name = any(${[...names]}::text[])
      order by name
      for key share`;
    return held.map(({ name }) => name);
  },
});

const columns = (sql: Sql) => sql`id, tenant_id, app_id, name, description, created_at`;
