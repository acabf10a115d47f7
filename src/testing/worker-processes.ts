import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A real process that executes the commands of a test: `answerCommands` is its other side. */
export interface WorkerProcess {
  readonly pid: number;
  call<Result = void>(command: string, argument?: unknown): Promise<Result>;
  /** Registers a listener for messages that the process sends while a command runs. */
  onMessage(listener: (message: Record<string, never>) => void): void;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  signal(name: NodeJS.Signals): void;
  /** Kills the process without warning. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

interface Command {
  readonly call: number;
  readonly command: string;
  readonly argument: unknown;
}

/** Starts a program with these parameters and resolves when it is ready for commands. */
export async function startProcess(program: URL, start: object): Promise<WorkerProcess> {
  const child = fork(program, [JSON.stringify(start)], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  // A test that fails half-way must not leave a process behind.
  const killed = () => void child.kill('SIGKILL');
  process.once('exit', killed);
  const open = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  let calls = 0;
  child.on('message', (message: { call?: number; result?: never; error?: string }) => {
    const waiting = message.call === undefined ? undefined : open.get(message.call);
    if (message.error === undefined) waiting?.resolve(message.result as never);
    else waiting?.reject(new Error(message.error));
  });
  const ended = once(child, 'exit');
  child.on('exit', () => {
    process.off('exit', killed);
    open.forEach(({ reject }) => reject(new Error('the process ended')));
  });
  await once(child, 'message');

  const call = <Result>(command: string, argument?: unknown) =>
    new Promise<Result>((resolve, reject) => {
      calls += 1;
      open.set(calls, { resolve, reject });
      child.send({ call: calls, command, argument } satisfies Command);
    });
  return {
    pid: child.pid!,
    call,
    onMessage: (listener) => void child.on('message', listener),
    ended,
    signal: (name) => void child.kill(name),
    kill: () => endedAfter(child, () => child.kill('SIGKILL')),
    close: () => endedAfter(child, () => void call('close').catch(() => child.kill('SIGKILL'))),
  };
}

async function endedAfter(child: ChildProcess, end: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  end();
  await exit;
}

type Commands = Readonly<Record<string, (argument: never) => unknown>>;

/** Executes the commands of the parent process and answers them. */
export function answerCommands(commands: Commands): void {
  process.on('message', ({ call, command, argument }: Command) => {
    Promise.resolve(commands[command]?.(argument as never)).then(
      (result) => process.connected && process.send?.({ call, result }),
      (error: unknown) => process.connected && process.send?.({ call, error: String(error) }),
    );
  });
  process.send?.({ ready: true });
}
