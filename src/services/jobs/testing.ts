import { expect } from 'vitest';
import type { Job, Lease, WorkflowRun } from '../../../generated/jobs/types.ts';
import type { TestRequest, TestResponse, TestServer } from '../../testing/server.ts';

/** The server through which a test sends requests: one in this process, or one of its own. */
export type Api = Pick<TestServer, 'request'>;

/** Short helpers for the tests of this service. Each expects success; the tests themselves check refusals. */
export const tools = (api: Api) => {
  const send = async (
    method: string,
    path: string,
    options: TestRequest = {},
  ): Promise<TestResponse['body']> => {
    const answer = await api.request(method, `/jobs/v1${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const post = (path: string, body: object = {}, options: TestRequest = {}): Promise<TestResponse['body']> =>
    send('POST', path, { ...options, body });
  const lease = (queue: string, body: object = {}, options: TestRequest = {}): Promise<Lease> =>
    post('/leases', { queues: [queue], ...body }, options);
  return {
    send,
    post,
    lease,
    create: (body: object = {}, options: TestRequest = {}): Promise<Job> =>
      post('/jobs', { name: 'email.send', ...body }, options),
    job: (id: string, options: TestRequest = {}): Promise<Job> => send('GET', `/jobs/${id}`, options),
    run: (id: string, options: TestRequest = {}): Promise<WorkflowRun> =>
      send('GET', `/workflows/runs/${id}`, options),
    /** Takes one job of a queue, which must be due. */
    async take(queue: string, options: TestRequest = {}): Promise<{ lease: string; job: Job }> {
      const { id, jobs } = await lease(queue, { max_jobs: 1, wait: '5s' }, options);
      expect(jobs).toHaveLength(1);
      return { lease: id!, job: jobs[0]! };
    },
    /** Returns the status and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string]> {
      const { status, text } = await api.request(method, `/jobs/v1${path}`, options);
      return [status, text === '' ? '' : (JSON.parse(text) as { error: string }).error];
    },
  };
};

/** A queue of its own for a test. */
export const newQueue = () => `q-${Math.random().toString(36).slice(2)}`;
