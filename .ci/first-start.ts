/**
 * Runs the README's first command on a free port and a new data directory: the server must answer, and end when it is told to.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const data = await mkdtemp(join(tmpdir(), 'plinth-first-start-'));
const port = await freePort();
const server = spawn('npm', ['start'], {
  env: { ...process.env, PORT: String(port), PLINTH_DATA_DIR: data, DATABASE_URL: '' },
  stdio: 'inherit',
  detached: true,
});
try {
  await answers(`http://127.0.0.1:${port}/readyz`, 60_000);
} finally {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  if (server.pid) process.kill(-server.pid, 'SIGTERM');
  await ended;
  await rm(data, { recursive: true });
}

async function answers(url: string, milliseconds: number): Promise<void> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    if (Date.now() > deadline) throw new Error(`${url} did not answer within ${milliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port: free } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return free;
}
