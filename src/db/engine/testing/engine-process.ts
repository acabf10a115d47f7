import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { answerCommands } from '../../../testing/worker-processes.ts';
import { openDatabase } from '../../index.ts';
import { createEngine, type Job } from '../index.ts';
import type { Start } from './processes.ts';

/** One process with an engine, run by `processes.ts`. Each job name is a way to behave. */
const { url, dataDir, settings } = JSON.parse(process.argv[2] ?? '{}') as Start;
const log = pino({ level: 'silent' });
const db = await openDatabase({ url, dataDir, log });
const engine = createEngine({ db, log, settings });
const { pid } = process;
let waiting = 0;
let released: () => void;
const release = new Promise<void>((resolve) => (released = resolve));

const began = ({ id, attempt }: Job) =>
  db.sql`insert into ran (id, pid, attempt) values (${id}, ${pid}, ${attempt})`;
const ended = ({ id }: Job) =>
  db.sql`update ran set ended = clock_timestamp() where id = ${id} and pid = ${pid}`;

/** Ends the process the first time that it comes to this place. */
async function killOnce(place: string): Promise<void> {
  const [first] =
    await db.sql`insert into killed (place) values (${place}) on conflict do nothing returning place`;
  if (first !== undefined) process.kill(pid, 'SIGKILL');
}

const commands = {
  /** Executes runs of a workflow of steps, and dies in each step and after each. */
  async workflow({ steps }: { steps: number }) {
    engine.workflow('dying', 1, async (_, ctx) => {
      const outputs: number[] = [];
      for (let at = 0; at < steps; at++) {
        const output = await ctx.step(`s${at}`, async ({ attempt }) => {
          await db.sql`insert into ran (id, pid, attempt) values (${`s${at}`}, ${pid}, ${attempt})`;
          await killOnce(`in ${at}`);
          return pid;
        });
        await killOnce(`after ${at}`);
        outputs.push(output);
        await ctx.sleep('nap', '50ms');
      }
      return outputs;
    });
    await engine.start();
  },
  async work({ queue, concurrency }: { queue: string; concurrency: number }) {
    const handle = (name: string, handler: (job: Job<{ ms: number }>) => unknown) =>
      engine.handle<{ ms: number }>(queue, name, handler, { concurrency });
    handle('quick', async (job) => {
      await began(job);
      if (job.payload.ms > 0) await delay(job.payload.ms);
      await ended(job);
      return pid;
    });
    handle('waits', async () => {
      waiting++;
      await release;
      process.send?.({ finished: true });
      return pid;
    });
    handle('blocks', ({ payload }) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, payload.ms);
      return pid;
    });
    handle('kills', () => process.kill(pid, 'SIGKILL'));
    engine.handle(queue, 'effect', (job, context) =>
      db.transaction(async (tx) => {
        await tx`insert into ran (id, pid, attempt) values (${job.id}, ${pid}, ${job.attempt})`;
        await context.complete(tx, pid);
      }),
    );
    await engine.start();
  },
  /** Runs a sweep that notes that it has begun and goes on until it is asked to end. */
  async sweep({ name, everyMs }: { name: string; everyMs: number }) {
    const step = async (_: number, signal?: AbortSignal) => {
      await db.sql`insert into swept (pid) values (${pid})`;
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      return 0;
    };
    engine.sweep({ name, everyMs, batch: 1, steps: [step] });
    await engine.start();
  },
  release: () => released(),
  enqueue: ({ count, ...job }: { count: number; name: string; queue: string }) =>
    engine.enqueue(Array.from({ length: count }, () => job)),
  /** Resolves when so many jobs wait. */
  async running(count: number) {
    while (waiting < count) await delay(5);
  },
  async close() {
    await engine.stop(5_000);
    await db.close();
    process.exit(0);
  },
};

answerCommands(commands);
