/** Tenants to measure, written directly as rows: the data that the service would store, in a few statements. */
import type { Check } from '../../generated/authz/types.ts';
import type { Database, Sql } from '../../src/db/index.ts';

export interface Roles {
  tenant: string;
  roles: number;
  users: number;
  /** Number of permissions per role: the actions `a0`, `a1`, … */
  permissions: number;
  /** Number of roles that share a resource type: role n grants on the type `data<n / share>`. */
  share: number;
}

/** Every user `u<n>` has the role `group<n % roles>`. The proportions are those of casbin's own benchmark. */
export async function seedRoles(
  db: Database,
  { tenant, roles, users, permissions, share }: Roles,
): Promise<void> {
  await db.maintenance(async (sql) => {
    await sql`
      insert into authz.tenants (tenant_id, revision, roles, permissions, assignments)
      values (${tenant}, 1, ${roles}, ${roles * permissions}, ${users})`;
    await sql`
      insert into authz.roles
        (id, tenant_id, app_id, name, slug, description, is_system, is_default, metadata, revision)
      select
        ${idOf(sql, 'role')}, ${tenant}, 'default', 'group' || n, 'group' || n, '', false, false, '{}', 1
      from generate_series(0, ${roles - 1}::int) n`;
    await sql`
      insert into authz.permissions (id, tenant_id, app_id, name, resource, action, description, revision)
      select
        ${idOf(sql, 'perm')}, ${tenant}, 'default', 'permission ' || n, 'data' || (n / ${permissions * share}::int),
        'a' || (n % ${permissions}::int), '', 1
      from generate_series(0, ${roles * permissions - 1}::int) n`;
    await sql`
      insert into authz.role_permissions (tenant_id, role_id, permission_id, revision)
      select ${tenant}, 'role_' || lpad((n / ${permissions}::int)::text, 26, '0'), ${idOf(sql, 'perm')}, 1
      from generate_series(0, ${roles * permissions - 1}::int) n`;
    await sql`
      insert into authz.assignments
        (id, tenant_id, app_id, role_id, subject_kind, subject_id, created_by, revision)
      select
        ${idOf(sql, 'asgn')}, ${tenant}, 'default', 'role_' || lpad((n % ${roles}::int)::text, 26, '0'), 'user', 'u' || n,
        'root', 1
      from generate_series(0, ${users - 1}::int) n`;
    await analyze(sql);
  });
}

/** Returns a check that user n's role allows, or, on another type, one that it does not allow. `turn` selects the permission. */
export function roleCheck(
  { roles, permissions, share }: Roles,
  n: number,
  turn: number,
  allowed: boolean,
): Check {
  const types = Math.ceil(roles / share);
  const own = Math.floor((n % roles) / share);
  return check({
    subject_id: `u${n}`,
    action: `a${turn % permissions}`,
    resource_type: `data${allowed ? own : (own + 1) % types}`,
  });
}

export interface Tree {
  tenant: string;
  documents: number;
  folders: number;
  groups: number;
  /** Number of users per group. They are in no other group. */
  members: number;
}

/** 200,000 tuples at full size: documents in folders, folders that groups can see, and groups of users. */
export const tree = (tenant: string, documents: number): Tree => ({
  tenant,
  documents,
  folders: Math.ceil(documents / 5),
  groups: Math.ceil(documents / 50),
  members: 39,
});

/** `lister` is in 20 groups, which can see a thousand of a hundred thousand documents. */
const listed = 20;

export async function seedTree(
  db: Database,
  { tenant, documents, folders, groups, members }: Tree,
): Promise<void> {
  await db.maintenance(async (sql) => {
    await sql`
      insert into authz.tenants (tenant_id, revision, types, tuples)
      values (${tenant}, 1, 3, ${documents + folders + groups * members + listed})`;
    const type = (n: number, name: string, relations: object[], permissions: object[]) => sql`
      insert into authz.resource_types (id, tenant_id, app_id, name, description, relations, permissions, revision)
      values (${`rtype_${String(n).padStart(26, '0')}`}, ${tenant}, 'default', ${name}, '', ${relations}, ${permissions}, 1)`;
    await type(1, 'group', [{ name: 'member', subjects: ['user'] }], []);
    const viewer = { name: 'viewer', subjects: ['user', 'group#member'] };
    await type(2, 'folder', [viewer], [{ name: 'read', expression: 'viewer' }]);
    const parent = { name: 'parent', subjects: ['folder'] };
    await type(3, 'document', [viewer, parent], [{ name: 'read', expression: 'viewer + parent->read' }]);
    await sql`
      insert into authz.relations (
        id, tenant_id, app_id, object_type, object_id, relation, subject_type, subject_id, subject_relation, revision
      )
      select 'rel_' || lpad((row_number() over ())::text, 26, '0'), ${tenant}, 'default', tuple.*, 1
      from (
        select 'document', 'd' || n, 'parent', 'folder', 'f' || (n % ${folders}::int), ''
        from generate_series(0, ${documents - 1}::int) n
        union all
        select 'folder', 'f' || n, 'viewer', 'group', 'g' || (n % ${groups}::int), 'member'
        from generate_series(0, ${folders - 1}::int) n
        union all
        select 'group', 'g' || (n / ${members}::int), 'member', 'user', 'u' || n, ''
        from generate_series(0, ${groups * members - 1}::int) n
        union all
        select 'group', 'g' || n, 'member', 'user', 'lister', ''
        from generate_series(0, ${listed - 1}::int) n
      ) tuple`;
    await analyze(sql);
  });
}

/** Returns a check over three hops: document → folder → group → user. */
export function treeCheck(
  { documents, folders, groups, members }: Tree,
  turn: number,
  allowed: boolean,
): Check {
  // A stride without a common factor with the sizes visits all documents in a scattered order.
  const document = (turn * 7919) % documents;
  const group = ((document % folders) % groups) + (allowed ? 0 : 1);
  const user = (group % groups) * members + (turn % members);
  return check({
    subject_id: `u${user}`,
    action: 'read',
    resource_type: 'document',
    resource_id: `d${document}`,
  });
}

const check = (
  given: Pick<Check, 'subject_id' | 'action' | 'resource_type'> & { resource_id?: string },
): Check => ({
  ...{ subject_kind: 'user', resource_id: '', context: {} },
  ...{ subject_attributes: {}, resource_attributes: {}, action_attributes: {} },
  ...given,
});

const idOf = (sql: Sql, prefix: string) => sql`${prefix}::text || '_' || lpad(n::text, 26, '0')`;

async function analyze(sql: Sql): Promise<void> {
  await sql`analyze authz.assignments, authz.relations, authz.role_permissions, authz.permissions, authz.roles`;
}
