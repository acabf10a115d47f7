import type { Database, Sql } from '../../db/index.ts';
import { emit, type Event } from '../../db/outbox.ts';
import type { Sweep } from '../../db/sweeps.ts';
import { assignmentStore } from './assignments.store.ts';
import { changeStore } from './changes.store.ts';
import { relationStore } from './relations.store.ts';
import { sweepStore } from './sweeps.store.ts';
import { tenantStore } from './tenants.store.ts';

const minuteMs = 60_000;
/** Assignments of a deleted role that one step removes. */
const mostGonePerStep = 5_000;

/** Removes expired facts. This raises no revision: their expiry has already changed the decisions. */
export const expiredSweep = (db: Database): Sweep => ({
  name: 'authz.expired',
  everyMs: minuteMs,
  batch: 1_000,
  steps: [(batch) => db.transaction((sql) => removeSomeExpired(sql, batch))],
});

/** Removes the assignments of deleted roles, which have granted nothing since the deletion. Each step handles one role. */
export const goneRolesSweep = (db: Database): Sweep => ({
  name: 'authz.gone-roles',
  everyMs: minuteMs,
  batch: 1,
  steps: [() => db.transaction(removeSomeOfGoneRole)],
});

/** Removes changes older than any model in memory can need. `retention` is in milliseconds. */
export const changesSweep = (db: Database, retention: number): Sweep => ({
  name: 'authz.changes',
  everyMs: 60 * minuteMs,
  batch: 10_000,
  steps: [(batch) => changeStore(db.sql).prune(retention, batch)],
});

async function removeSomeExpired(sql: Sql, batch: number): Promise<number> {
  const store = sweepStore(sql);
  const tenants = await store.tenantsWithExpired(batch);
  if (tenants.length === 0) return 0;
  await store.lock(tenants);
  const assignments = await assignmentStore(sql).deleteExpired(tenants, batch);
  const relations = await relationStore(sql).deleteExpired(tenants, batch);
  const [first, ...rest] = [
    ...assignments.map((assignment) => expired('assignment', assignment)),
    ...relations.map((relation) => expired('relation', relation)),
  ];
  await Promise.all([
    store.discount(
      'assignments',
      assignments.map(({ tenant_id }) => tenant_id),
    ),
    store.discount(
      'tuples',
      relations.map(({ tenant_id }) => tenant_id),
    ),
    first && emit(sql, first, ...rest),
  ]);
  return Math.max(assignments.length, relations.length);
}

function expired(what: string, record: { id: string; tenant_id: string; app_id: string }): Event {
  const { id: subject, tenant_id: tenant, app_id: app } = record;
  return {
    source: '/authz',
    type: `authz.${what}.expired`,
    subject,
    tenant,
    app,
    actor: 'system',
    data: record,
  };
}

/** Returns 1 while there may be more to remove. */
async function removeSomeOfGoneRole(sql: Sql): Promise<number> {
  const store = sweepStore(sql);
  const role = await store.findGoneRole();
  if (!role) return 0;
  await store.lock([role.tenant_id]);
  const removed = await store.deleteAssignmentsOf(role.tenant_id, role.role_id, mostGonePerStep);
  await tenantStore(sql).count(role.tenant_id, { assignments: -removed });
  if (removed < mostGonePerStep) await store.forgetGoneRole(role.tenant_id, role.role_id);
  return 1;
}
