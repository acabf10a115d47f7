/** A process with a worker of the SDK, for drills that kill it. It tells its parent which jobs it begins and ends. */
import { setTimeout as delay } from 'node:timers/promises';
import { createPlinth, type WorkerJob } from '@plinth/sdk';
import { answerCommands } from '../../src/testing/worker-processes.ts';

/** The parameters of the process. */
export interface WorkerStart {
  readonly port: number;
  readonly token: string;
}

/** The payload of a job of a drill. */
interface Work {
  /** Milliseconds that the job takes. */
  readonly ms: number;
}

const { port, token } = JSON.parse(process.argv[2] ?? '{}') as WorkerStart;
const plinth = createPlinth({ baseUrl: `http://127.0.0.1:${port}`, token });
const worker = plinth.jobs.worker({
  queues: {
    drill: {
      async works({ id, payload }: WorkerJob<Work>) {
        process.send?.({ begun: id });
        await delay(payload.ms);
        process.send?.({ ended: id });
      },
      kills: () => process.kill(process.pid, 'SIGKILL'),
    },
  },
  lease: '5s',
  wait: '2s',
  concurrency: 32,
  onError: () => {},
});

answerCommands({
  work: () => void worker.start().catch(() => {}),
  async close() {
    await worker.stop(1_000);
    process.exit(0);
  },
});
