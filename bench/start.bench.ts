/**
 * What a server takes before anybody uses it: the room of a production install and of the image, the time from the command to the first
 * answered request, and the memory of a server that has nothing to do.
 */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createPlace } from './place.ts';
import { atMost, type Measurements, notMeasured, type Row } from './row.ts';
import { median } from './statistics.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'src/main.ts');
const run = promisify(execFile);
const rounds = 3;
/** Milliseconds after which a server that nobody uses has done what it does at its start. */
const idleAfter = 10_000;

export default { embedded, onServer, installed, image } satisfies Measurements;

async function* embedded(): AsyncGenerator<Row> {
  const fresh: number[] = [];
  const used: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const data = await mkdtemp(join(tmpdir(), 'plinth-bench-start-'));
    fresh.push((await start(data)).seconds);
    const again = await start(data, { wait: idleAfter });
    used.push(again.seconds);
    memory.push(again.megabytes);
    await rm(data, { recursive: true });
  }
  yield atMost(median(fresh), 6, { path: 'start on a new data directory, with all migrations', unit: 's' });
  yield atMost(median(used), 3, { path: 'start on a used data directory', unit: 's' });
  yield atMost(median(memory), 700, {
    path: 'memory of a server without requests, all services and the database in it',
    unit: 'MB',
  });
}

/** The same on PostgreSQL, where one answers. */
async function* onServer(): AsyncGenerator<Row> {
  const place = await createPlace();
  const data = await mkdtemp(join(tmpdir(), 'plinth-bench-start-'));
  const path = 'memory of a server without requests, all services, on PostgreSQL';
  try {
    if (place.url === undefined) {
      yield notMeasured(path, '≤ 400 MB', 'no PostgreSQL answers');
      return;
    }
    await start(data, { databaseUrl: place.url });
    const { seconds, megabytes } = await start(data, { databaseUrl: place.url, wait: idleAfter });
    yield atMost(seconds, 3, { path: 'start on PostgreSQL', unit: 's' });
    yield atMost(megabytes, 400, { path, unit: 'MB' });
  } finally {
    await rm(data, { recursive: true });
    await place.remove();
  }
}

/** What `npm ci --omit=dev` puts into a new folder. */
async function* installed(): AsyncGenerator<Row> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-bench-install-'));
  try {
    for (const name of ['package.json', 'package-lock.json', 'sdk/package.json', 'spec/lint/package.json']) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await cp(join(root, name), join(folder, name));
    }
    await run('npm', ['ci', '--omit=dev', '--ignore-scripts'], { cwd: folder });
    const { stdout } = await run('du', ['-sm', join(folder, 'node_modules')]);
    yield atMost(Number.parseInt(stdout, 10), 300, { path: '`npm ci --omit=dev`', unit: 'MB' });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The image of the Dockerfile, built by its steps. */
async function* image(): AsyncGenerator<Row> {
  const { stdout } = await run(process.execPath, ['.ci/image.ts'], { cwd: root });
  const megabytes = Number(/(\d+) MB in all/.exec(stdout)?.[1]);
  yield atMost(megabytes, 250, { path: 'container image', unit: 'MB' });
}

interface Started {
  readonly seconds: number;
  /** Resident memory at the end of the wait. */
  readonly megabytes: number;
}

/** Starts a server, waits, and ends it. */
async function start(data: string, { wait = 0, databaseUrl = '' } = {}): Promise<Started> {
  const port = await freePort();
  const started = performance.now();
  const child = spawn(process.execPath, [main, 'serve', '--port', String(port), '--data', data], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
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
  await new Promise((resolve) => setTimeout(resolve, wait));
  const megabytes = await residentMegabytes(child.pid!);
  child.kill('SIGTERM');
  await ended;
  return { seconds, megabytes };
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
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
