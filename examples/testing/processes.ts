/** Starts and ends the processes that pages show. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { root } from './pages.ts';

export const run = promisify(execFile);

/**
 * Starts `src/main.ts` on a free port, which is chosen beforehand because `auth` names its address in tokens. Resolves when the
 * server listens.
 */
export async function start(
  args: string[],
  data: string,
  databaseUrl = '',
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ['src/main.ts', ...args, '--port', String(await freePort())], {
    cwd: root,
    env: {
      ...process.env,
      PLINTH_CONTRACT: 'strict',
      PLINTH_DATA_DIR: data,
      PLINTH_LOG: 'info',
      DATABASE_URL: databaseUrl,
    },
  });
  let text = '';
  const url = new Promise<string>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  return { url: await url, child };
}

/** Ends a server and waits until it has ended. */
export async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Returns a port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
