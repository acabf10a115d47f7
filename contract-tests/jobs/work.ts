/**
 * Set-up for the tests of jobs: queues, jobs under a lease, dead letters and runs, created through the SDK on the mock and on the
 * server.
 */
import { randomBytes } from 'node:crypto';
import type { Job, WorkflowRun } from '../../generated/jobs/types.ts';
import type { Credential } from '../harness.ts';

type Worker = Pick<Credential, 'plinth'>;

/** Well-formed ids that name nothing. */
export const absent = {
  job: 'job_01h455vb4pex5vsknk084sn0zz',
  lease: 'lease_01h455vb4pex5vsknk084sn0zz',
  letter: 'dlq_01h455vb4pex5vsknk084sn0zz',
  cron: 'cron_01h455vb4pex5vsknk084sn0zz',
  run: 'wfrun_01h455vb4pex5vsknk084sn0zz',
} as const;

/** A queue of its own, because the operator's workers see the jobs of all tests. */
export const newQueue = (): string => `q-${randomBytes(6).toString('hex')}`;

/** JSON over the limit of every payload, input and output. */
export const tooLarge = { text: 'x'.repeat(65_536) };

export const enqueue = ({ plinth }: Worker, queue = newQueue(), more: object = {}): Promise<Job> =>
  (async () => await plinth.jobs.jobs.create({ body: { name: 'email.send', queue, ...more } }))();

/** Takes one job of a queue. */
export async function take({ plinth }: Worker, queue: string): Promise<{ leaseId: string; job: Job }> {
  const { id, jobs } = await plinth.jobs.leases.create({
    body: { queues: [queue], max_jobs: 1, duration: '15m', wait: '10s' },
  });
  const [job] = jobs;
  if (id === null || job === undefined) throw new Error(`no job was due in ${queue}`);
  return { leaseId: id, job };
}

/** Enqueues a job and takes it. */
export async function taken(worker: Worker, more: object = {}): Promise<{ leaseId: string; job: Job }> {
  const queue = newQueue();
  await enqueue(worker, queue, more);
  return take(worker, queue);
}

/** Lets a job fail for good, and returns the id of its dead letter. */
export async function deadLetter(worker: Worker, queue = newQueue()): Promise<string> {
  await enqueue(worker, queue);
  const { leaseId, job } = await take(worker, queue);
  const body = { lease_id: leaseId, error: 'smtp: 550 no such user', retryable: false };
  const { jobs } = worker.plinth;
  await jobs.jobs.fail({ jobId: job.id, body });
  const [letter] = await jobs.dlq.list({ queue });
  return letter!.id;
}

/** Registers a workflow and starts a run of it. */
export async function started({ plinth: { jobs } }: Worker): Promise<WorkflowRun> {
  const name = 'order.fulfil';
  await jobs.workflows.put({ name, body: {} });
  return await jobs.runs.start({ body: { name, input: { order_id: 'o-4711' } } });
}

/** Starts a run and takes its job. */
export async function working(worker: Worker): Promise<{ runId: string; leaseId: string; job: Job }> {
  const { id, name, version } = await started(worker);
  return { runId: id, ...(await take(worker, `workflow.${name}.v${version}`)) };
}

/** Creates one thing of every kind, none of which changes while the tests run. Returns their ids. */
export async function leaveWork(worker: Worker): Promise<string[]> {
  const { leaseId, job } = await taken(worker, { timeout: '1h' });
  const letter = await deadLetter(worker);
  const run = await started(worker);
  const body = { name: 'new-year', schedule: '0 0 1 1 *' };
  const cron = await worker.plinth.jobs.crons.create({ body });
  return [leaseId, job.id, letter, run.id, cron.id];
}
