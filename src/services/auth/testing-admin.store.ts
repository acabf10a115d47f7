import type { Member } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';
import { newId } from '../../lib/ids.ts';
import { newSlug } from './testing.ts';

/** Every statement of the tests' own words. */
export const testStore = (sql: Sql) => ({
  /** The active organization of a session. */
  async organizationOf(sessionId: string): Promise<{ tenant_id: string; org_id: string | null }> {
    const [session] = await sql<[{ tenant_id: string; org_id: string | null }]>`
      select tenant_id, org_id from auth.sessions where id = ${sessionId}`;
    return session;
  },

  /** An organization with these members, by user id; answers its id. */
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
