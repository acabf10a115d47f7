/** A real server of jobs for the tests of a file, and workers that end with their test. */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { testServer, type TestServer } from '../../src/testing/server.ts';
import {
  createPlinth,
  type Plinth,
  type Worker,
  type WorkerOptions,
  type WorkflowCode,
} from '../src/index.ts';

export let server: TestServer;
export let plinth: Plinth;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  plinth = createPlinth({ baseUrl: server.url, token: server.rootToken });
});
afterAll(() => server.close());

export const running: Worker[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.stop(0)));
});

export async function begin(options: WorkerOptions): Promise<Worker> {
  const worker = plinth.jobs.worker({ onError: () => {}, ...options });
  running.push(worker);
  await worker.start();
  return worker;
}

export const newName = () => `n-${Math.random().toString(36).slice(2)}`;
export const jobOf = (id: string) => plinth.jobs.jobs.get({ jobId: id });
export const stateOf = async (id: string) => (await jobOf(id)).state;
export const runOf = (id: string) => plinth.jobs.runs.get({ runId: id });

/** Starts a run of a workflow of the test's own, which this process executes. */
export async function execute(code: WorkflowCode, input: unknown = null, definition: object = {}) {
  const name = newName();
  const worker = await begin({ workflows: { [name]: { ...definition, code } }, lease: '5s' });
  const { id } = await plinth.jobs.runs.start({ body: { name, input } });
  return { id, name, worker };
}

export async function ended(id: string) {
  await expect.poll(async () => (await runOf(id)).state, { timeout: 20_000 }).not.toBe('running');
  return runOf(id);
}

export const stepsOf = async (runId: string) => {
  const steps = await plinth.jobs.runs.steps({ runId });
  return steps.map(({ name, state, attempt }) => [name, state, attempt]);
};
