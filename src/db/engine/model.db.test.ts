import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../lib/ids.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { claim, type ClaimedJob, type Cursor } from './claim.store.ts';
import { deadLetterStore } from './dead-letters.store.ts';
import { createEnqueue, type Enqueue } from './enqueue.ts';
import { jobStore } from './jobs.store.ts';
import { leaseStore } from './leases.store.ts';
import { afterFailure, afterLoss, afterPostponement } from './outcomes.ts';
import { attempted } from './leases.ts';
import { conclude } from './settle.ts';
import { settleStore } from './settle.store.ts';
import type { JobState } from './job.ts';
import { stateAfter, type Transition } from './testing/states.ts';
import { queries } from './testing/queries.ts';

let db: TestDatabase;
let enqueue: Enqueue['enqueue'];
const { clear } = queries(() => db);
beforeAll(async () => {
  db = await testDatabase();
  // Many short statements on one connection, which would be planned anew each time.
  if (db.engine === 'pglite') await db.sql`set plan_cache_mode = force_generic_plan`;
  ({ enqueue } = createEnqueue({ db, maxPayload: 65_536, hint: () => {} }));
});
afterAll(() => db.close());

const maxLost = 3;
const queue = 'q';

interface Known {
  state: JobState;
  attempt: number;
  lost: number;
  key: string | null;
}

/** The jobs as they should be, and the executions that workers hold. */
class Model {
  readonly jobs = new Map<string, Known>();
  readonly letters = new Set<string>();
  held: ClaimedJob[] = [];
  lost: ClaimedJob[] = [];
  cursor: Cursor = new Map();
  lease = 'lease_0';

  move(id: string, transition: Transition): Known {
    const job = this.jobs.get(id)!;
    const next = stateAfter(job.state, transition);
    expect(next, `${transition} of a job that is ${job.state}`).toBeDefined();
    job.state = next!;
    if (transition === 'fail') this.letters.add(id);
    return job;
  }
  holder = (key: string) =>
    [...this.jobs].find(
      ([, job]) => job.key === key && ['pending', 'running', 'retrying'].includes(job.state),
    )?.[0];
  pick = (number: number, ...states: JobState[]) => {
    const ids = [...this.jobs].filter(([, { state }]) => states.includes(state)).map(([id]) => id);
    return ids[number % Math.max(1, ids.length)];
  };
}

type Step = (model: Model, number: number) => Promise<void>;

const add: Step = async (model, number) => {
  const key = number % 3 === 0 ? `k${number % 4}` : null;
  const holder = key === null ? undefined : model.holder(key);
  const input = {
    name: 'n',
    queue,
    unique_key: key,
    max_attempts: 2,
    tenant: `t${number % 3}`,
    priority: number % 2,
  };
  // One tenant holds all keys, so that they meet.
  const [made] = await enqueue([key === null ? input : { ...input, tenant: 't0' }]);
  expect(made!.created).toBe(holder === undefined);
  if (holder !== undefined) expect(made!.id).toBe(holder);
  else model.jobs.set(made!.id, { state: 'pending', attempt: 0, lost: 0, key });
};

const take: Step = async (model, number) => {
  const request = { queue, leaseId: model.lease, count: (number % 4) + 1, cursor: model.cursor };
  const taken = await claim(db.sql, request);
  model.cursor = taken.cursor;
  const waiting = [...model.jobs.values()].filter(
    ({ state }) => state === 'pending' || state === 'retrying',
  ).length;
  expect(taken.jobs.length > 0).toBe(waiting > 0);
  for (const job of taken.jobs) {
    const known = model.move(job.id, 'claim');
    known.attempt += 1;
    expect(job).toMatchObject({ attempt: known.attempt, lost_count: known.lost });
    model.held.push(job);
  }
};

const complete: Step = async (model, number) => {
  const done = model.held.splice(0, (number % 3) + 1);
  const late = model.lost.splice(0, number % 2);
  const ids = await settleStore(db.sql).complete([...done, ...late].map((job) => ({ ...job, output: '1' })));
  expect(ids.sort()).toEqual(done.map(({ id }) => id).sort());
  for (const { id } of done) model.move(id, 'complete');
};

const fail: Step = async (model, number) => {
  const [job] = model.held.splice(0, 1);
  if (job === undefined) return;
  const failure = { error: 'no', retryable: number % 4 > 0, retryInMs: 0 };
  const outcome = afterFailure(attempted(job), failure, 0);
  await db.transaction((tx) =>
    conclude(tx, [{ ...job, outcome }, ...model.lost.map((one) => ({ ...one, outcome }))]),
  );
  model.move(job.id, outcome.state === 'failed' ? 'fail' : 'retry-later');
};

const postpone: Step = async (model) => {
  const [job] = model.held.splice(0, 1);
  if (job === undefined) return;
  await conclude(db.sql, [{ ...job, outcome: afterPostponement(0) }]);
  model.move(job.id, 'give-back').attempt -= 1;
};

/** The worker vanishes, and its jobs are reaped. */
const kill: Step = async (model) => {
  await db.sql`delete from jobs.lease where id = ${model.lease}`;
  await db.transaction(async (tx) => {
    const astray = await leaseStore(tx).astray(5_000, 100);
    expect(astray.map(({ id }) => id).sort()).toEqual(model.held.map(({ id }) => id).sort());
    const list = astray.map((job) => ({ ...job, outcome: afterLoss(attempted(job), maxLost, 0) }));
    await conclude(tx, list);
    for (const { id, outcome } of list) {
      const job = model.move(id, outcome.state === 'failed' ? 'fail' : 'give-back');
      job.attempt -= 1;
      job.lost += 1;
    }
  });
  model.lost.push(...model.held);
  model.held = [];
  await begin(model);
};

/** The worker ends in order. */
const release: Step = async (model) => {
  await leaseStore(db.sql).release(model.lease);
  for (const { id } of model.held) model.move(id, 'give-back').attempt -= 1;
  model.lost.push(...model.held);
  model.held = [];
  await begin(model);
};

async function begin(model: Model): Promise<void> {
  model.lease = newId('lease');
  const lease = {
    id: model.lease,
    kind: 'http',
    tenant: 't',
    app: 'a',
    worker: 'w',
    ttlMs: 600_000,
  } as const;
  await leaseStore(db.sql).create(lease);
}

const tenantOf = async (id: string) => (await jobStore(db.sql).state(id))!.tenant_id;

const cancel: Step = async (model, number) => {
  const id = model.pick(number, 'pending', 'retrying', 'running');
  if (id === undefined) return;
  const tenant = await tenantOf(id);
  const cancelled = await db.transaction((tx) => jobStore(tx).cancel([{ tenant_id: tenant, id }]));
  const may = model.jobs.get(id)!.state !== 'running';
  expect(cancelled.length).toBe(may ? 1 : 0);
  if (may) model.move(id, 'cancel');
};

const retry: Step = async (model, number) => {
  const id = model.pick(number, 'failed', 'cancelled', 'completed');
  if (id === undefined) return;
  const job = model.jobs.get(id)!;
  const tenant = await tenantOf(id);
  const result = await db.transaction((tx) => jobStore(tx).revive(tenant, id));
  if (job.state === 'completed') return expect(result).toBe('none');
  if (job.key !== null && model.holder(job.key) !== undefined) return expect(result).toBe('taken');
  expect(result).toBe('revived');
  model.move(id, 'retry');
  model.letters.delete(id);
  Object.assign(job, { attempt: 0, lost: 0 });
};

const replay: Step = async (model) => {
  const [letter] = await db.sql<{ tenant_id: string; id: string; job_id: string }[]>`
    select tenant_id, id, job_id from jobs.dlq order by id limit 1`;
  expect(letter !== undefined).toBe(model.letters.size > 0);
  if (letter === undefined) return;
  const job_id = newId('job');
  await db.transaction((tx) => deadLetterStore(tx).replay([{ ...letter, job_id }]));
  model.letters.delete(letter.job_id);
  model.jobs.set(job_id, { state: 'pending', attempt: 0, lost: 0, key: null });
};

const steps: readonly Step[] = [
  add,
  add,
  add,
  take,
  take,
  take,
  complete,
  complete,
  fail,
  fail,
  postpone,
  kill,
  release,
  cancel,
  retry,
  replay,
];

async function check(model: Model): Promise<void> {
  const rows = await db.sql<{ id: string; state: string; attempt: number; lost: number }[]>`
    select id, state, attempt, lost_count as lost from jobs.job
    union all select id, state, attempt, lost_count from jobs.job_done`;
  const actual = rows
    .map(({ id, ...row }) => ({ id, ...row }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const expected = [...model.jobs]
    .map(([id, { state, attempt, lost }]) => ({ id, state, attempt, lost }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  expect(actual).toEqual(expected);
  const letters = await db.sql<{ job_id: string }[]>`select job_id from jobs.dlq order by job_id`;
  expect(letters.map(({ job_id }) => job_id)).toEqual([...model.letters].sort());
  const keys = await db.sql<{ job_id: string }[]>`select job_id from jobs.job_key order by job_id`;
  const holders = [...model.jobs].filter(([id, { key }]) => key !== null && model.holder(key) === id);
  expect(keys.map(({ job_id }) => job_id)).toEqual(holders.map(([id]) => id).sort());
}

test('whatever happens in whatever order, every job is in the one state where it should be', async () => {
  const step = fc.tuple(fc.integer({ min: 0, max: steps.length - 1 }), fc.nat(100));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (sequence) => {
      await clear();
      const model = new Model();
      await begin(model);
      for (const [index, number] of sequence) await steps[index]!(model, number);
      await check(model);
    }),
    { numRuns: 150, seed: 5 },
  );
}, 60_000);
