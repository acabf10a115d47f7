import { createPlinth, JobFailure, type WorkerJob } from '@plinth/sdk';

const baseUrl = process.env.PLINTH_URL ?? 'http://127.0.0.1:4000';
const plinth = createPlinth({ baseUrl, token: process.env.PLINTH_ROOT_TOKEN ?? '' });

interface Email {
  to: string;
  template: string;
}

/** Stands for a real mail service. The signal ends it at the timeout of the job, and when the worker stops earlier. */
async function deliver({ to, template }: Email, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  // No further attempt would help, so the job becomes a dead letter at once.
  if (!to.includes('@')) throw new JobFailure(`no address: ${to}`, { retryable: false });
  return `${template}-${Date.now().toString(36)}`;
}

const worker = plinth.jobs.worker({
  queues: {
    emails: {
      'email.send': async ({ id, payload, attempt }: WorkerJob<Email>, { signal }) => {
        const message_id = await deliver(payload, signal);
        console.log(`${id}: ${payload.template} to ${payload.to}, attempt ${attempt}`);
        return { message_id };
      },
    },
  },
  concurrency: 8,
  onError: (error, job) => console.log(`${job?.id ?? 'worker'}: ${String(error)}`),
});

// Running jobs may end within ten seconds; the remaining ones then return to the queue at once.
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    console.log('stopping');
    void worker.stop(10_000);
  });

console.log(`working on ${baseUrl}`);
await worker.start();
await worker.done;
console.log('stopped');
