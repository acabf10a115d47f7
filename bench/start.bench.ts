/** The time from the command to the first answered request: on a new data directory with all migrations, and on a used one. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, type Measurements, type Row } from './row.ts';
import { median } from './statistics.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const rounds = 3;

export default { embedded } satisfies Measurements;

async function* embedded(): AsyncGenerator<Row> {
  const fresh: number[] = [];
  const used: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const data = await mkdtemp(join(tmpdir(), 'plinth-bench-start-'));
    fresh.push(await secondsToAnswer(data));
    used.push(await secondsToAnswer(data));
    await rm(data, { recursive: true });
  }
  yield atMost(median(fresh), 6, { path: 'start on a new data directory, with all migrations', unit: 's' });
  yield atMost(median(used), 3, { path: 'start on a used data directory', unit: 's' });
}

async function secondsToAnswer(data: string): Promise<number> {
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, [main, 'serve', '--port', String(port), '--data', data], {
    env: {
      ...process.env,
      DATABASE_URL: '',
      NODE_ENV: 'production',
      PLINTH_PUBLIC_URL: `http://127.0.0.1:${port}`,
    },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (!(await answers(`http://127.0.0.1:${port}/readyz`))) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const seconds = (performance.now() - started) / 1000;
  child.kill('SIGTERM');
  await ended;
  return seconds;
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.ok,
    () => false,
  );

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
