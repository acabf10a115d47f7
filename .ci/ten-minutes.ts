/**
 * Ten minutes later: a deployment as docs/production.md describes it, from a copy of the project that has only what
 * `npm ci --omit=dev --ignore-scripts` installs. The mock is not part of it and says so, the doctor has nothing to say, migrations
 * are a step of their own, two processes share the port where a PostgreSQL answers, and a backup becomes a second server.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { deepStrictEqual, match } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inFolder, onServer, type Place, server } from './databases.ts';
import { freePort } from '../src/testing/free-port.ts';
import { ask, running } from './running.ts';

const project = await mkdtemp(join(tmpdir(), 'plinth-ten-minutes-'));
const token = randomBytes(24).toString('hex');
const secrets = { PLINTH_ROOT_TOKEN: token, PLINTH_MASTER_KEY: randomBytes(32).toString('base64') };
const began = performance.now();
const step = (what: string) => console.log(`${((performance.now() - began) / 1000).toFixed(0)} s  ${what}`);
const places: Place[] = [];
try {
  execFileSync('bash', ['-c', 'git archive HEAD | tar -x -C "$0"', project]);
  const page = await readFile('docs/production.md', 'utf8');
  const [install = ''] = /npm ci --omit=dev[^`]*/.exec(page) ?? [];
  execFileSync('bash', ['-c', `${install} --no-audit --no-fund`], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  step(install);

  const mock = spawnSync(process.execPath, ['bin/plinth.cjs', 'mock', '--port', '0'], {
    cwd: project,
    encoding: 'utf8',
    timeout: 60_000,
  });
  deepStrictEqual(mock.status, 1, 'the mock has to be refused');
  match(mock.stderr, /^The mock is for development [^\n]*\n$/);

  const [first, second] = [await emptyPlace(), await emptyPlace()];
  const port = await freePort();
  const settings = settingsOf(first, port);
  step(plinth(settings, 'migrate'));
  // A server without mail is warned of, so the doctor's exit code counts: 1 means that it would not start.
  step(plinth(settings, 'doctor').split('\n').at(-1) ?? '');
  const workers = first.engine === 'postgres' ? '2' : '1';
  const made = await withServer({ ...settings, PLINTH_WORKERS: workers }, port, async (url) => {
    await put(`${url}/storage/store/v1/buckets/photos`, 'one');
    return keysOf(url, 'Before the backup');
  });
  step(`served by ${workers} on ${first.engine}`);

  const file = join(project, 'plinth.tar');
  plinth(settings, 'backup', file);
  const again = settingsOf(second, port);
  plinth(again, 'restore', file);
  const kept = await withServer(again, port, async (url) => {
    deepStrictEqual(await content(`${url}/storage/store/v1/buckets/photos`, 'one'), 'x'.repeat(200_000));
    return keysOf(url);
  });
  deepStrictEqual(kept, made, 'the restored server has other keys');
  step('backup restored');
} finally {
  for (const place of places) await place.remove();
  await rm(project, { recursive: true, force: true });
}

async function emptyPlace(): Promise<Place> {
  const place = server === undefined ? await inFolder('ten-minutes') : await onServer(server, 'ten_minutes');
  places.push(place);
  return place;
}

function settingsOf({ env }: Place, port: number): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  const own = {
    NODE_ENV: 'production',
    PORT: String(port),
    PLINTH_PUBLIC_URL: url,
    PLINTH_TRUSTED_PROXY: '127.0.0.1',
  };
  return { PATH: process.env['PATH'] ?? '', ...secrets, ...own, ...env };
}

/** Runs a command of the production install and returns what it prints. */
function plinth(env: Record<string, string>, ...words: string[]): string {
  return execFileSync(process.execPath, ['bin/plinth.cjs', ...words], {
    cwd: project,
    env,
    encoding: 'utf8',
  }).trim();
}

async function withServer<T>(
  env: Record<string, string>,
  port: number,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const command = [process.execPath, 'bin/plinth.cjs', 'serve'];
  const one = await running(command, port, { cwd: project, env });
  try {
    return await work(one.url);
  } finally {
    await one.stop();
  }
}

/** The names of all keys, after another one was made. */
async function keysOf(url: string, made?: string): Promise<string[]> {
  if (made !== undefined) await ask(`${url}/keys/v1/keys`, token, 'POST', { name: made });
  const list = (await ask(`${url}/keys/v1/keys`, token, 'GET')) as
    { name: string }[] | { data: { name: string }[] };
  return (Array.isArray(list) ? list : list.data).map(({ name }) => name);
}

async function put(bucket: string, key: string): Promise<void> {
  const [buckets, name] = [
    bucket.slice(0, bucket.lastIndexOf('/')),
    bucket.slice(bucket.lastIndexOf('/') + 1),
  ];
  await ask(buckets, token, 'POST', { name });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${bucket}/objects/${key}`, {
    method: 'PUT',
    headers,
    body: 'x'.repeat(200_000),
  });
  if (!response.ok) throw new Error(`an object was refused: ${response.status} ${await response.text()}`);
}

async function content(bucket: string, key: string): Promise<string> {
  const response = await fetch(`${bucket}/objects/${key}`, { headers: { authorization: `Bearer ${token}` } });
  return response.text();
}
