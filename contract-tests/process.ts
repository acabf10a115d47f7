import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A mock or a server in a separate process: the tests see only what any client sees. */
export interface Running {
  /** The address without a trailing slash. */
  readonly url: string;
  readonly rootToken: string;
  /** Its output so far, for the message of a failed test. */
  readonly output: () => string;
  /** Stops it cleanly and removes its data. */
  stop(): Promise<void>;
}

export const startMock = () => start(['mock'], {});

export interface ServerOptions {
  /** The database to use; without it, the server has a separate one. */
  readonly databaseUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a server on a new data directory, or on the database of `databaseUrl`. It is strict, so that it checks its own answers too. */
export async function startServer({ databaseUrl, environment = {} }: ServerOptions = {}): Promise<Running> {
  const data = await mkdtemp(join(tmpdir(), 'plinth-contract-'));
  const server = await start(['serve', '--data', data], {
    PLINTH_CONTRACT: 'strict',
    PLINTH_AUTH_ARGON2: cheapHashes,
    // A test that uses up the attempts of its network names another network in `X-Forwarded-For`.
    PLINTH_TRUSTED_PROXY: '127.0.0.1',
    // With these, tests sign what payment providers send.
    PLINTH_BILLING_CARD_PROVIDER_SECRETS: 'whsec_plinth_test',
    PLINTH_BILLING_BILLING_PROVIDER_SECRETS: 'whsec_plinth_test',
    PLINTH_SYNC_PRESENCE: 'on',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...environment,
  });
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** The lowest allowed cost of a password hash: the contract does not depend on its strength. */
const cheapHashes = 'm=7168,t=1,p=1';

const startTimeoutMs = 60_000;

/** Runs `node src/main.ts …` on a free port and waits for the address in its output. */
async function start(args: readonly string[], environment: Record<string, string>): Promise<Running> {
  const rootToken = `contract-${randomBytes(24).toString('hex')}`;
  const child = spawn(process.execPath, ['src/main.ts', ...args, '--port', '0', '--host', '127.0.0.1'], {
    cwd: new URL('..', import.meta.url),
    env: { PATH: process.env['PATH'], PLINTH_ROOT_TOKEN: rootToken, PLINTH_LOG: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => {
      child.kill('SIGKILL');
      reject(new Error(`${args.join(' ')} ${why}:\n${output}`));
    };
    const timer = setTimeout(fail, startTimeoutMs, 'did not start in time');
    const read = (chunk: Buffer) => {
      // Only the end matters, and a run may be long.
      output = (output + chunk.toString()).slice(-20_000);
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
  return {
    url,
    rootToken,
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(late);
    },
  };
}
