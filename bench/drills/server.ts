/** Real servers, `src/main.ts serve`, for drills that kill them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { token } from '../place.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface DrillServer {
  readonly port: number;
  /** Whether the process has ended by itself. */
  readonly hasExited: () => boolean;
  /** Resolves when it accepts requests. */
  readonly ready: () => Promise<void>;
  /** Kills it with SIGKILL. */
  readonly kill: () => Promise<void>;
  /** Ends it in good order. */
  readonly end: () => Promise<void>;
  /** Starts it again on the same port after `kill` or `end`. */
  readonly start: () => void;
}

/** Starts a server. Its environment contains only the path of this process and the given variables. */
export async function drillServer(
  env: Readonly<Record<string, string>>,
  services: readonly string[] = ['jobs', 'webhooks'],
): Promise<DrillServer> {
  const port = await freePort();
  let said = '';
  let child = begin();
  let isKilled = false;

  function begin() {
    const started = spawn(process.execPath, [main, 'serve', ...services, '--port', String(port)], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        PLINTH_LOG: 'fatal',
        PLINTH_ROOT_TOKEN: token,
        PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        ...env,
      },
    });
    said = '';
    started.stderr.setEncoding('utf8').on('data', (part: string) => (said = (said + part).slice(-4_000)));
    return started;
  }
  async function stop(signal: NodeJS.Signals): Promise<void> {
    isKilled = true;
    if (isGone()) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
  const isGone = () => child.exitCode !== null || child.signalCode !== null;
  const hasExited = () => !isKilled && isGone();
  process.once('exit', () => child.kill('SIGKILL'));
  return {
    port,
    hasExited,
    async ready() {
      for (;;) {
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
        if (answer?.ok) return;
        if (hasExited()) throw new Error(`the server ended before it was ready: ${said}`);
        await delay(25);
      }
    },
    kill: () => stop('SIGKILL'),
    end: () => stop('SIGTERM'),
    start() {
      child = begin();
      isKilled = false;
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
