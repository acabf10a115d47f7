/**
 * An upgrade as docs/production.md describes it: from the version before the last migration to this one, with the embedded database and,
 * where a PostgreSQL answers, without an interruption. What the old version stored has to be there, and no request may fail.
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
const lastMigration = git('log', '--max-count=1', '--diff-filter=A', '--format=%H', '--', migrations);
const before = git('rev-parse', `${lastMigration}^`);
const token = randomBytes(24).toString('hex');
const secrets = { PLINTH_ROOT_TOKEN: token, PLINTH_MASTER_KEY: randomBytes(32).toString('base64') };

const question = {
  subject_kind: 'user',
  subject_id: 'anna',
  action: 'viewer',
  resource_type: 'document',
  resource_id: 'plan',
};

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
  const kept = await ask(`${first.url}/keys/v1/keys/${made.key.id}`, token, 'GET');

  const callers = engine === 'postgres' ? steadyCaller(first.url) : undefined;
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

/** Asks one request after the other, and keeps the first that fails. */
function steadyCaller(url: string) {
  let target = url;
  let answered = 0;
  let ending = false;
  const asking = (async () => {
    while (!ending) {
      await ask(`${target}/keys/v1/keys`, token, 'POST', { name: 'Meanwhile' });
      await ask(`${target}/authz/v1/authz/check`, token, 'POST', question);
      answered += 2;
    }
  })();
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
