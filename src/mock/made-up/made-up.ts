import { Worker } from 'node:worker_threads';
import type { Document } from '../contract/document.ts';
import type { Wanted } from './made-up.worker.ts';
import type { Outgoing } from '../answers/outgoing.ts';

/** Limits of a thread that makes up answers. When it exceeds them, the answer is the example. */
export interface Limits {
  readonly milliseconds: number;
  readonly megabytes: number;
}

const usual: Limits = { milliseconds: 3_000, megabytes: 256 };

/** Milliseconds after which an unused thread ends. */
const idle = 10_000;

/** Milliseconds that a thread may take to read its document. */
const patience = 60_000;

/** Makes up the answers of a service, one at a time, on a separate thread. Returns undefined for an answer that exceeds the limits. */
export function makingUp(
  document: Document,
  limits: Limits = usual,
): (wanted: Wanted) => Promise<Outgoing | undefined> {
  let worker: Promise<Worker | undefined> | undefined;
  let ending: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function ended(): Promise<void> {
    const old = worker;
    worker = undefined;
    await (await old)?.terminate();
  }

  async function one(wanted: Wanted): Promise<Outgoing | undefined> {
    clearTimeout(ending);
    const running = await (worker ??= started(document, limits));
    const outgoing =
      running && (await reply(running, limits.milliseconds, () => running.postMessage(wanted)));
    if (outgoing === undefined) await ended();
    else ending = setTimeout(() => void ended(), idle).unref();
    // Null: no answer fits the schema. The thread is in order, and starting another one would take a second.
    return (outgoing as Outgoing | null | undefined) ?? undefined;
  }

  return (wanted) => {
    const made = last.then(() => one(wanted));
    last = made.catch(() => undefined);
    return made;
  };
}

async function started(document: Document, limits: Limits): Promise<Worker | undefined> {
  const worker = new Worker(new URL('./made-up.worker.ts', import.meta.url), {
    workerData: document,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: limits.megabytes },
  });
  worker.unref();
  // An error that nothing awaits must not end the process.
  worker.on('error', () => {});
  const ready = await reply(worker, patience, () => {});
  if (ready !== undefined) return worker;
  await worker.terminate();
  return undefined;
}

/** Returns the next message of the thread, or undefined when the thread ends, fails or takes too long. */
function reply(worker: Worker, milliseconds: number, ask: () => void): Promise<unknown> {
  return new Promise((resolve) => {
    const settle = (said: unknown) => {
      clearTimeout(timer);
      worker.off('message', settle).off('error', fail).off('exit', fail);
      resolve(said);
    };
    const fail = () => settle(undefined);
    const timer = setTimeout(fail, milliseconds);
    worker.on('message', settle).on('error', fail).on('exit', fail);
    ask();
  });
}
