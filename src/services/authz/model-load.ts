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

/** Facts read per chunk. */
const factsPerChunk = 2_000;
/** Policies, and resource types, read per chunk. One record can take up to a megabyte. */
const policiesPerChunk = 20;
const typesPerChunk = 2;
/** Estimated bytes of a fact in a full model, to decide whether the model would fit. */
const bytesPerFact = 250;

/**
 * Reads a tenant's model in one snapshot: all rules, and all facts too when there are few enough. `now` is the database's clock
 * in milliseconds.
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
    const full = facts <= settings.preloadFacts && facts * bytesPerFact <= settings.memory / 2;
    const model = new Model(full ? 'full' : 'partial');
    await addRules(model, sql, tenant);
    if (full) await addFacts(model, sql, tenant);
    model.loaded(state.revision);
    return { model, now: state.now };
  });
}

async function addRules(model: Model, sql: Sql, tenant: string): Promise<void> {
  const store = roleStore(sql);
  const [roles, permissions, role_permissions] = await Promise.all([
    store.rules(tenant),
    permissionStore(sql).rules(tenant),
    store.attachments(tenant),
  ]);
  for (const some of chunks(roles)) await inTurn(() => model.addRules({ roles: some }));
  for (const some of chunks(permissions)) await inTurn(() => model.addRules({ permissions: some }));
  for (const some of chunks(role_permissions)) await inTurn(() => model.addRules({ role_permissions: some }));
  for await (const policies of ahead(policyStore(sql).rules(tenant, policiesPerChunk)))
    model.addRules({ policies });
  for await (const resource_types of ahead(resourceTypeStore(sql).rules(tenant, typesPerChunk)))
    model.addRules({ resource_types });
}

function* chunks<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += factsPerChunk) yield rows.slice(from, from + factsPerChunk);
}

/** Runs work after other tasks have had their turn. */
async function inTurn(work: () => void): Promise<void> {
  await setImmediate();
  work();
}

async function addFacts(model: Model, sql: Sql, tenant: string): Promise<void> {
  for await (const tuples of ahead(relationStore(sql).facts(tenant, factsPerChunk))) model.addTuples(tuples);
  for await (const assignments of ahead(assignmentStore(sql).facts(tenant, factsPerChunk)))
    model.addAssignments(assignments);
}

/**
 * Yields the chunks of a source, while the database prepares the next one. Other requests of the process run between any two
 * chunks: a chunk takes less than 10 ms. The driver writes at the end of a turn of the event loop, hence the two turns.
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
    // A chunk in transit has to arrive before the source can be closed.
    await next.catch(() => {});
    await chunks.return?.();
  }
}

/**
 * Requests the next chunk of a source. The empty handler marks a rejection as handled, because the chunk may be awaited later
 * than the runtime allows.
 */
function begin<Chunk>(chunks: AsyncIterator<Chunk>): Promise<IteratorResult<Chunk>> {
  const next = Promise.resolve(chunks.next());
  next.catch(() => {});
  return next;
}
