import { setImmediate } from 'node:timers/promises';
import type { Database, Sql } from '../../db/index.ts';
import { assignmentStore } from './assignments.store.ts';
import { Model } from './engine/model.ts';
import { permissionStore } from './permissions.store.ts';
import { policyStore } from './policies.store.ts';
import { relationStore } from './relations.store.ts';
import { resourceTypeStore } from './resource-types.store.ts';
import { roleStore } from './roles.store.ts';
import type { Settings } from './settings.ts';
import { tenantStore } from './tenants.store.ts';

/** Facts read at once. */
const CHUNK = 2_000;
/** What a fact takes in a full model, for the decision whether it would fit. */
const BYTES_PER_FACT = 250;

/**
 * Reads a tenant's model in one snapshot: all rules, and all facts too when they are few enough. `now` is the database's
 * clock in milliseconds.
 */
export function loadModel(
  db: Database,
  tenant: string,
  settings: Pick<Settings, 'preloadFacts' | 'memory'>,
): Promise<{ model: Model; now: number }> {
  return db.transaction(async (sql) => {
    const tenants = tenantStore(sql);
    await tenants.snapshot();
    const state = await tenants.find(tenant);
    const facts = state.assignments + state.tuples;
    const full = facts <= settings.preloadFacts && facts * BYTES_PER_FACT <= settings.memory / 2;
    const model = new Model(full ? 'full' : 'partial');
    await addRules(model, sql, tenant);
    if (full) await addFacts(model, sql, tenant);
    model.loaded(state.revision);
    return { model, now: state.now };
  });
}

async function addRules(model: Model, sql: Sql, tenant: string): Promise<void> {
  const roles = roleStore(sql);
  const [role, permission, attachment, policy, type] = await Promise.all([
    roles.rules(tenant),
    permissionStore(sql).rules(tenant),
    roles.attachments(tenant),
    policyStore(sql).rules(tenant),
    resourceTypeStore(sql).rules(tenant),
  ]);
  model.addRules({
    roles: role,
    permissions: permission,
    role_permissions: attachment,
    policies: policy,
    resource_types: type,
  });
}

async function addFacts(model: Model, sql: Sql, tenant: string): Promise<void> {
  for await (const tuples of ahead(relationStore(sql).facts(tenant, CHUNK))) model.addTuples(tuples);
  for await (const assignments of ahead(assignmentStore(sql).facts(tenant, CHUNK)))
    model.addAssignments(assignments);
}

/**
 * The chunks of a source; the database makes the next one while one is used. Other requests of the process go on between
 * any two: a chunk takes less than 10 ms. The driver writes at the end of a turn of the event loop, hence the two turns.
 */
async function* ahead<Chunk>(source: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  const chunks = source[Symbol.asyncIterator]();
  let next = begin(chunks);
  try {
    for (let step = await next; step.done !== true; step = await next) {
      next = begin(chunks);
      await setImmediate();
      await setImmediate();
      yield step.value;
    }
  } finally {
    // What is on its way has to arrive before the source can be closed.
    await next.catch(() => {});
    await chunks.return?.();
  }
}

/** The next of a source, whose failure is met when it is awaited: that may be later than the runtime allows. */
function begin<Chunk>(chunks: AsyncIterator<Chunk>): Promise<IteratorResult<Chunk>> {
  const next = Promise.resolve(chunks.next());
  next.catch(() => {});
  return next;
}
