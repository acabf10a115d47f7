import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The start parameters of a worker. */
export interface Start {
  readonly url: string | undefined;
  readonly dataDir: string;
  readonly redisUrl?: string | undefined;
  /** The error of its wall clock. */
  readonly clockOffsetMs: number;
}

export interface Command {
  readonly call: number;
  readonly command: string;
  readonly argument: unknown;
}

/** A real process of the service. */
export interface Worker {
  call<Result = void>(command: string, argument?: unknown): Promise<Result>;
  /** Registers a listener for messages that the worker sends while a command runs. */
  onMessage(listener: (message: Record<string, never>) => void): void;
  /** Kills the process without warning. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Starts processes on one database. Resolves when all are ready. */
export const startWorkers = (starts: readonly Start[]): Promise<Worker[]> =>
  Promise.all(starts.map(startWorker));

async function startWorker(start: Start): Promise<Worker> {
  const path = new URL('./worker.ts', import.meta.url);
  const child = fork(path, [JSON.stringify(start)], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const open = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let calls = 0;
  child.on('message', (message: { call?: number; result?: never; error?: string }) => {
    const waiting = message.call === undefined ? undefined : open.get(message.call);
    if (message.error === undefined) waiting?.resolve(message.result as never);
    else waiting?.reject(new Error(message.error));
  });
  child.on('exit', () => open.forEach(({ reject }) => reject(new Error('the process ended'))));
  await once(child, 'message');

  const call = <Result>(command: string, argument?: unknown) =>
    new Promise<Result>((resolve, reject) => {
      calls += 1;
      open.set(calls, { resolve, reject });
      child.send({ call: calls, command, argument } satisfies Command);
    });
  return {
    call,
    onMessage: (listener) => void child.on('message', listener),
    kill: () => ended(child, () => child.kill('SIGKILL')),
    close: () => ended(child, () => void call('close').catch(() => child.kill('SIGKILL'))),
  };
}

async function ended(child: ChildProcess, end: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  end();
  await exit;
}
