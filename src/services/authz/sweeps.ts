import type { Database, Log, Sql } from '../../db/index.ts';
import { emit, type Event } from '../../db/outbox.ts';
import { periodic } from '../../db/periodic.ts';
import { assignmentStore } from './assignments.store.ts';
import { changeStore } from './changes.store.ts';
import { relationStore } from './relations.store.ts';
import { sweepStore } from './sweeps.store.ts';
import { tenantStore } from './tenants.store.ts';

const MINUTE = 60_000;
const EXPIRED = 1_000;
const GONE = 5_000;
const CHANGES = 10_000;

/** Starts the background work of the service; returns what stops it. */
export function startSweeps(db: Database, log: Log, changesRetention: number): () => Promise<void> {
  const sweep = (name: string, everyMs: number, run: (signal: AbortSignal) => Promise<void>) =>
    periodic({ db, log, everyMs, run, name: `authz.${name}` });
  const sweeps = [
    sweep('expired', MINUTE, (signal) => removeExpired(db, signal)),
    sweep('gone-roles', MINUTE, (signal) => removeAssignmentsOfGoneRoles(db, signal)),
    sweep('changes', 60 * MINUTE, (signal) => pruneChanges(db, changesRetention, signal)),
  ];
  return async () => void (await Promise.all(sweeps.map((running) => running.stop())));
}

/** Removes facts that expired, in batches. It raises no revision: their expiry has changed the decisions already. */
export async function removeExpired(db: Database, signal?: AbortSignal): Promise<void> {
  let removed = EXPIRED;
  while (removed >= EXPIRED && !signal?.aborted) removed = await db.transaction(removeSomeExpired);
}

async function removeSomeExpired(sql: Sql): Promise<number> {
  const store = sweepStore(sql);
  const tenants = await store.tenantsWithExpired(EXPIRED);
  if (tenants.length === 0) return 0;
  await store.lock(tenants);
  const assignments = await assignmentStore(sql).deleteExpired(tenants, EXPIRED);
  const relations = await relationStore(sql).deleteExpired(tenants, EXPIRED);
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

/** Removes what deleted roles were assigned to, in batches: these assignments have granted nothing since. */
export async function removeAssignmentsOfGoneRoles(db: Database, signal?: AbortSignal): Promise<void> {
  let more = true;
  while (more && !signal?.aborted) more = await db.transaction(removeSomeOfGoneRole);
}

async function removeSomeOfGoneRole(sql: Sql): Promise<boolean> {
  const store = sweepStore(sql);
  const role = await store.findGoneRole();
  if (!role) return false;
  await store.lock([role.tenant_id]);
  const removed = await store.deleteAssignmentsOf(role.tenant_id, role.role_id, GONE);
  await tenantStore(sql).count(role.tenant_id, { assignments: -removed });
  if (removed < GONE) await store.forgetGoneRole(role.tenant_id, role.role_id);
  return true;
}

/** Removes changes that are older than any model in memory can be behind. */
export async function pruneChanges(db: Database, retention: number, signal?: AbortSignal): Promise<void> {
  let pruned = CHANGES;
  while (pruned >= CHANGES && !signal?.aborted) pruned = await changeStore(db.sql).prune(retention, CHANGES);
}
