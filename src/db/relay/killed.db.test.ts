/** Tests that processes which write and relay may be killed at any moment: no event is lost, and every subject keeps its order. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { childEnvironment } from '../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../testing/database.ts';
import { type Database, openDatabase } from '../index.ts';
import { createRelay } from './testing/relaying.ts';
import { createTaken, left, storing, takenBy, written } from './testing/taken.ts';

const program = fileURLToPath(new URL('./testing/relay-process.ts', import.meta.url));
const log = pino({ level: 'silent' });

/** A process that writes and relays, and what it said. */
interface Running {
  readonly child: ChildProcess;
  readonly count: (word: 'begun' | 'took' | 'wrote') => number;
  /** The highest count of each subject whose change was acknowledged. */
  readonly wrote: Map<string, number>;
}

const open = () => openDatabase({ url: place.url, dataDir: place.env.PLINTH_DATA_DIR, log });
let place: ChildDatabase;
let running: Running[] = [];
beforeEach(async () => {
  place = await childDatabase(['authz']);
  const db = await open();
  await createTaken(db);
  await db.close();
});
afterEach(async () => {
  await Promise.all(running.map(kill));
  running = [];
  await place.remove();
});

function start(): Running {
  const child = spawn(process.execPath, [program, ...[place.env.PLINTH_DATA_DIR, place.url ?? []].flat()], {
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const counts = new Map<string, number>();
  const wrote = new Map<string, number>();
  createInterface(child.stdout).on('line', (line) => {
    const [word = '', subject = '', count] = line.split(' ');
    counts.set(word, (counts.get(word) ?? 0) + 1);
    if (word === 'wrote') wrote.set(subject, Math.max(wrote.get(subject) ?? 0, Number(count)));
  });
  const one: Running = { child, wrote, count: (word) => counts.get(word) ?? 0 };
  running.push(one);
  return one;
}

async function kill({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

const patience = { timeout: 60_000 };

/** Waits until one of the processes has been given events several times, and kills it while it works. */
async function killTheRelaying(): Promise<void> {
  const busy = () => running.find(({ child, count }) => child.signalCode === null && count('begun') > 3);
  await expect.poll(() => busy() !== undefined, patience).toBe(true);
  await kill(busy()!);
}

async function checkAll(db: Database): Promise<void> {
  const relay = createRelay({
    db,
    log,
    outboxes: [{ service: 'authz' }],
    consumers: [storing(db, 'audit')],
    everyMs: 20,
  });
  relay.start();
  // The lease of the killed process has to run out.
  await expect.poll(() => left(db), patience).toBe(0);
  await relay.stop();
  const all = await written(db);
  expect(await takenBy(db, 'audit')).toEqual(all);
  for (const { wrote } of running)
    for (const [subject, count] of wrote) expect(all.get(subject)?.length).toBeGreaterThanOrEqual(count);
}

test(
  'after kill -9 of every process, each acknowledged event is taken, in order',
  { timeout: 180_000 },
  async () => {
    // One process at a time can open the embedded database.
    for (let count = inject('engine') === 'postgres' ? 2 : 1; count > 0; count--) start();
    for (let left = running.length; left > 0; left--) await killTheRelaying();
    expect(running.reduce((sum, { count }) => sum + count('wrote'), 0)).toBeGreaterThan(20);
    const db = await openDatabase({ url: place.url, dataDir: place.env.PLINTH_DATA_DIR, log });
    try {
      await checkAll(db);
    } finally {
      await db.close();
    }
  },
);
