import type { Member } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { newSlug } from './index.ts';

/** Every statement of the test helpers. */
export const testStore = (sql: Sql) => ({
  /** The tenant of a session. */
  async tenantOf(sessionId: string): Promise<string> {
    const [{ tenant_id }] = await sql<[{ tenant_id: string }]>`
      select tenant_id from auth.sessions where id = ${sessionId}`;
    return tenant_id;
  },

  /** Inserts an organization with these members, by user id; returns its id. */
  async insertOrganization(
    tenant: string,
    app: string,
    members: Readonly<Record<string, Member['role']>>,
  ): Promise<string> {
    const id = newId('org');
    await sql`
      insert into auth.organizations (id, tenant_id, app_id, name, slug, member_count)
      values (${id}, ${tenant}, ${app}, 'Org', ${newSlug()}, ${Object.keys(members).length})`;
    for (const [user_id, role] of Object.entries(members))
      await sql`
        insert into auth.members (id, tenant_id, org_id, user_id, role)
        values (${newId('mem')}, ${tenant}, ${id}, ${user_id}, ${role})`;
    return id;
  },
});
