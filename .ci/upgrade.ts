/**
 * An upgrade as docs/production.md describes it: from the newest version that lacks a migration to this one, or from the revision
 * that is given, with the embedded database and, where a PostgreSQL answers, without an interruption. What the old version stored has to be
 * there, and no request may fail.
 */
import { execFileSync } from 'node:child_process';
import { deepStrictEqual } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inFolder, onServer, type Place, server } from './databases.ts';
import { freePort } from '../src/testing/free-port.ts';
import { ask, type Running, running } from './running.ts';

const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim();
const migrations = ':(glob)src/**/migrations/*.sql';
const before = git('rev-parse', process.argv[2] ?? beforeTheLast());
const token = randomBytes(24).toString('hex');
const secrets = { PLINTH_ROOT_TOKEN: token, PLINTH_MASTER_KEY: randomBytes(32).toString('base64') };

const question = {
  subject_kind: 'user',
  subject_id: 'anna',
  action: 'viewer',
  resource_type: 'document',
  resource_id: 'plan',
};

const bucket = 'upgraded';
/** How many callers ask at once, so that some are always at work in the database. */
const callersAtOnce = 6;

const old = await mkdtemp(join(tmpdir(), 'plinth-upgrade-'));
try {
  execFileSync('bash', ['-c', 'git archive "$1" | tar -x -C "$0"', old, before]);
  // What the old version needs is among what this one has for development.
  await symlink(resolve('node_modules'), join(old, 'node_modules'));
  await mkdir(join(old, 'sdk'), { recursive: true });
  const places = [
    await inFolder('upgrade'),
    ...(server === undefined ? [] : [await onServer(server, 'upgrade')]),
  ];
  for (const place of places) await upgrade(place);
} finally {
  await rm(old, { recursive: true, force: true });
}

/**
 * The newest revision that lacks a migration of this one, and has none that was changed since: while a migration was still being
 * written, nobody was given it.
 */
function beforeTheLast(): string {
  const added = git('log', '--diff-filter=A', '--format=%H^', '--', migrations).split('\n');
  const changed = (revision: string) =>
    git('diff', '--name-only', '--no-renames', '--diff-filter=MD', revision, 'HEAD', '--', migrations);
  return added.find((revision) => changed(revision) === '') ?? added.at(-1)!;
}

/** On PostgreSQL the old server goes on until the new one is ready; the embedded database is for one process at a time. */
async function upgrade(place: Place): Promise<void> {
  const servers: Running[] = [];
  try {
    await between(place, servers);
  } finally {
    for (const one of servers) await one.stop();
    await place.remove();
  }
}

async function between({ env, engine }: Place, servers: Running[]): Promise<void> {
  const began = performance.now();
  const settings = { PATH: process.env['PATH'] ?? '', PLINTH_LOG: 'warn', ...secrets, ...env };
  const first = await start(old, settings);
  servers.push(first);
  const made = (await ask(`${first.url}/keys/v1/keys`, token, 'POST', { name: 'Kept' })) as {
    raw_key: string;
    key: { id: string };
  };
  await ask(`${first.url}/storage/store/v1/buckets`, token, 'POST', { name: bucket });
  const kept = await ask(`${first.url}/keys/v1/keys/${made.key.id}`, token, 'GET');
  const plan = (await ask(`${first.url}/billing/billing/plans`, token, 'POST', {
    ...{ slug: 'upgraded', name: 'Upgraded', currency: 'usd', features: [] },
    pricing: { base_amount: { amount: 1_000, currency: 'usd' }, tiers: [] },
  })) as { id: string };

  const callers = engine === 'postgres' ? steadyCaller(first.url, plan.id) : undefined;
  if (!callers) await first.stop();
  const applied = execFileSync(process.execPath, ['bin/plinth.cjs', 'migrate'], {
    env: settings,
    encoding: 'utf8',
  });
  const second = await start(process.cwd(), settings);
  servers.push(second);
  if (callers) {
    callers.turnTo(second.url);
    await callers.another();
    await first.stop();
  }
  deepStrictEqual(await ask(`${second.url}/keys/v1/keys/${made.key.id}`, token, 'GET'), kept);
  const validated = await ask(`${second.url}/keys/v1/keys/validate`, token, 'POST', {
    raw_key: made.raw_key,
  });
  deepStrictEqual((validated as { valid: boolean }).valid, true);
  const answered = await callers?.end();
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${engine}: from ${before.slice(0, 8)}, ${applied.trim()} ${seconds} s`);
  if (answered !== undefined) console.log(`${answered} requests answered meanwhile, none failed`);
}

async function start(folder: string, env: Record<string, string>) {
  const port = await freePort();
  const own = { ...env, PORT: String(port), PLINTH_DATABASE_CONNECTIONS: '10' };
  return running([process.execPath, 'src/main.ts', 'serve'], port, { cwd: folder, env: own });
}

/** Lets several callers ask one request after the other, and keeps the first that fails. */
function steadyCaller(url: string, plan_id: string) {
  let target = url;
  let answered = 0;
  let ending = false;
  const call = async (method: string, path: string, body?: unknown) => {
    await ask(`${target}${path}`, token, method, body);
    answered += 1;
  };
  const caller = async (_: unknown, number: number) => {
    for (let turn = 0; !ending; turn++) {
      await call('POST', '/keys/v1/keys', { name: 'Meanwhile' });
      await call('POST', '/authz/v1/authz/check', question);
      const object = `/storage/store/v1/buckets/${bucket}/objects/${number}-${turn}`;
      await call('PUT', object, { turn });
      await call('POST', '/sync/push', pushOf(`node-${number}`, turn));
      await call('DELETE', object);
      const tenant_id = `tenant-${number}-${turn}`;
      await call('POST', '/billing/billing/subscriptions', { tenant_id, plan_id });
    }
  };
  const asking = Promise.all(Array.from({ length: callersAtOnce }, caller));
  asking.catch(() => {});
  return {
    turnTo: (next: string) => (target = next),
    async another(): Promise<void> {
      const until = answered + 4;
      while (answered < until)
        await Promise.race([asking, new Promise((resolve) => setTimeout(resolve, 20))]);
    },
    async end(): Promise<number> {
      ending = true;
      await asking;
      return answered;
    },
  };
}

/** A record that is written, and the one before it deleted. */
function pushOf(node: string, turn: number) {
  const change = (of: object, counter: number) => ({
    ...{ table: 'notes', node_id: node, hlc: { timestamp: Date.now(), counter, node_id: node }, ...of },
  });
  const written = { pk: `${node}-${turn}`, field: 'title', crdt_type: 'lww', value: `Turn ${turn}` };
  const deleted = { pk: `${node}-${turn - 1}`, tombstone: true };
  return { NodeID: node, Changes: [change(written, 0), change(deleted, 1)] };
}
