import type { Leases } from '../../../generated/jobs/server.ts';
import type { Settlement } from '../../../generated/jobs/types.ts';
import { jsonText, milliseconds } from '../../db/engine/job.ts';
import { leaseStore } from '../../db/engine/leases.store.ts';
import type { Context } from '../../http/context.ts';
import { viewOf } from '../../http/view.ts';
import { Invalid } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { leaseHolderStore } from './holders.store.ts';
import { limits } from './limits.ts';
import { checkLeasable } from './queue-names.ts';
import { completeJobs, failJobs, failureOf } from './reports.ts';
import { type Order, take } from './taking.ts';
import type { Waiting } from './waiting.ts';

interface LeasesDeps extends Deps {
  readonly waiting: Waiting;
  readonly ending: AbortSignal;
}

const none = { id: null, worker: null, expires_at: null, jobs: [] };

/** Leases: how workers outside of the platform take jobs. */
export const leases = (deps: LeasesDeps) => {
  const { db, write, settings } = deps;
  return {
    async create({ body }, context) {
      checkLeasable(body.queues);
      const order = {
        view: viewOf(context),
        queues: [...new Set(body.queues)],
        count: body.max_jobs,
        ttlMs: milliseconds(body.duration, 'duration', limits.leaseMs)!,
        worker: body.worker ?? '',
      };
      const waitMs = milliseconds(body.wait, 'wait', limits.waitMs)!;
      return (await takeWithin(deps, order, waitMs, context)) ?? none;
    },

    async heartbeat({ leaseId, body }, context) {
      const ttlMs = milliseconds(body?.duration, 'duration', limits.leaseMs);
      return leaseHolderStore(db.background).renew(viewOf(context), leaseId, ttlMs);
    },

    settle({ leaseId, body }, context) {
      const { completed, failed } = checkedSettlement(body, settings.maxPayload);
      const ids = [...completed.keys(), ...failed.keys()];
      return write(context, async (tx) => {
        const view = viewOf(context);
        const store = leaseHolderStore(tx.sql);
        await store.check(view, leaseId);
        const held = await store.held(view, leaseId, ids);
        await completeJobs(
          tx,
          held.flatMap((job) => {
            const output = completed.get(job.id);
            return output === undefined ? [] : [{ job, output }];
          }),
        );
        await failJobs(
          tx,
          held.flatMap((job) => {
            const failure = failed.get(job.id);
            return failure === undefined ? [] : [{ job, failure }];
          }),
        );
        const settled = new Set(held.map(({ id }) => id));
        return { settled: settled.size, lost: ids.filter((id) => !settled.has(id)) };
      });
    },

    release: ({ leaseId }, context) =>
      write(context, async (tx) => {
        await leaseHolderStore(tx.sql).check(viewOf(context), leaseId);
        tx.wake(await leaseStore(tx.sql).release(leaseId));
      }),
  } satisfies Leases<Context>;
};

/** Takes jobs, and waits for some while there are none. A worker that went away gets none. */
async function takeWithin(
  { db, waiting, ending }: LeasesDeps,
  order: Order,
  waitMs: number,
  context: Context,
) {
  const began = performance.now();
  const { signal } = context;
  const { view, queues } = order;
  for (;;) {
    const since = performance.now();
    const { lease, waitMs: nextMs } = await take(db, order);
    const left = waitMs - (performance.now() - began);
    if (lease !== undefined) {
      // Of all who wait for such jobs only this worker was woken.
      waiting.look(queues);
      return lease;
    }
    if (left <= 0 || signal.aborted || ending.aborted) return undefined;
    waiting.found({ view, queues, since, nextMs });
    await context.rest(() => waiting.wait(view, queues, left, signal));
    if (signal.aborted) return undefined;
  }
}

/** The outputs and failures of a settlement by the ids of the jobs. */
function checkedSettlement({ completed, failed }: Settlement, maxPayload: number) {
  const count = completed.length + failed.length;
  if (count < 1 || count > limits.batch)
    throw Invalid(`completed: must be 1 to ${limits.batch}, with failed`);
  const outputs = new Map(
    completed.map(({ id, output }, at) => [id, jsonText(output, `completed[${at}].output`, maxPayload)]),
  );
  const failures = new Map(failed.map((one, at) => [one.id, failureOf(one, `failed[${at}].`)]));
  const twice = failed.findIndex(({ id }) => outputs.has(id));
  if (twice >= 0) throw Invalid(`failed[${twice}].id: is also in completed`);
  if (outputs.size + failures.size < count)
    throw Invalid('completed: each job may appear only once in completed and failed');
  return { completed: outputs, failed: failures };
}
