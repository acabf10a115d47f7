import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { freePort } from './free-port.ts';
import { send } from './send.ts';
import type { TestRequest, TestResponse } from './server.ts';

/** A real server process, for tests that kill it or run several on one database. */
export interface ChildServer {
  readonly url: string;
  readonly rootToken: string;
  readonly pid: number;
  /** The output of the process so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  request(method: string, path: string, options?: TestRequest): Promise<TestResponse>;
  /** Sends the signal (by default `SIGTERM`) and waits for the end. Resolves with the exit code, or null after a `SIGKILL`. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ChildServerOptions {
  services: readonly string[];
  /** Added to an environment that inherits only PATH from this process. Set `DATABASE_URL` or a data directory. */
  env?: Readonly<Record<string, string>>;
  /** How many files and sockets the process may have open. */
  descriptors?: number;
}

/** What every process of a test inherits. They share their compiled modules, because compiling takes a third of a start. */
export const childEnvironment = () => ({
  PATH: process.env['PATH'],
  // Tests run side by side, and the server has a hundred connections in all.
  PLINTH_DATABASE_CONNECTIONS: '10',
  NODE_COMPILE_CACHE: process.env['TEST_COMPILED_MODULES'],
});

/** Starts `src/main.ts serve` on a free port and waits until it is ready. Rejects with its output if it ends first. */
export async function childServer({
  services,
  env = {},
  descriptors,
}: ChildServerOptions): Promise<ChildServer> {
  const port = await freePort();
  const rootToken = env['PLINTH_ROOT_TOKEN'] ?? randomBytes(24).toString('base64url');
  const main = new URL('../main.ts', import.meta.url).pathname;
  const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors}; `;
  const words = [process.execPath, main, 'serve', ...services, '--port', String(port)];
  const child = spawn('sh', ['-c', `${limit}exec "$0" "$@"`, ...words], {
    env: { ...childEnvironment(), PLINTH_ROOT_TOKEN: rootToken, PLINTH_CONTRACT: 'strict', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that fails half-way must not leave a server behind.
  process.once('exit', () => child.kill('SIGKILL'));
  const out = collected(child.stdout);
  const err = collected(child.stderr);
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const url = `http://127.0.0.1:${port}`;
  await ready(url, child, () => out() + err());
  return {
    url,
    rootToken,
    pid: child.pid!,
    stdout: out,
    stderr: err,
    request: (method, path, request = {}) => send(url + path, method, rootToken, request),
    async kill(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = await ended;
      return code;
    },
  };
}

async function ready(url: string, child: ChildProcess, output: () => string): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`the server ended before it was ready: ${output()}`);
}

function collected(stream: NodeJS.ReadableStream): () => string {
  const parts: string[] = [];
  stream.setEncoding('utf8').on('data', (part: string) => parts.push(part));
  return () => parts.join('');
}
