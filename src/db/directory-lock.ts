import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Another process has the data directory open. The message is a sentence for the operator. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Start time of the process in kernel ticks; it distinguishes the process from a later one with the same pid. */
  readonly started: string | null;
  readonly nonce: string;
}

const beatMs = 1_000;

/**
 * Locks the directory for this process until `release` or until the process ends, in whatever way: the lock of a dead process is taken
 * over. Throws `DirectoryInUse` while a live process holds the lock. A holder on another host (a volume shared by containers) counts as
 * alive while it touches the file, which is watched for a few seconds.
 */
export async function lockDirectory(directory: string): Promise<{ release(): Promise<void> }> {
  const path = join(directory, 'lock');
  const mine: Holder = {
    pid: process.pid,
    host: hostname(),
    started: (await processOf(process.pid)).started,
    nonce: randomUUID(),
  };
  const holder = await acquire(path, mine);
  if (holder !== null) {
    throw new DirectoryInUse(
      `the data directory ${directory} is in use by process ${holder.pid} on ${holder.host}: stop it, or choose another directory with PLINTH_DATA_DIR`,
    );
  }
  return hold(path, mine);
}

/**
 * Makes `path` the lock of `mine` and returns null, or returns the live process that holds the lock. The lock of a dead process is
 * replaced, never removed, and only by the holder of a second lock that is named after it; the second lock may be stale as well.
 */
async function acquire(path: string, mine: Holder): Promise<Holder | null> {
  for (;;) {
    if (await take(path, mine)) return null;
    const holder = await read(path);
    if (holder === undefined) continue;
    if (await isAlive(path, holder)) return holder;
    const successor = `${path}.${holder.nonce}`;
    const other = await acquire(successor, mine);
    if (other !== null) return other;
    try {
      if (await replace(path, holder, mine)) return null;
    } finally {
      await rm(successor, { force: true });
    }
  }
}

/** Links a finished file into place, so that no process ever reads half a lock. */
async function take(path: string, mine: Holder): Promise<boolean> {
  const draft = await write(path, mine);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Returns false if another process has replaced the dead process's lock since it was read. */
async function replace(path: string, dead: Holder, mine: Holder): Promise<boolean> {
  if ((await read(path))?.nonce !== dead.nonce) return false;
  await rename(await write(path, mine), path);
  return true;
}

async function write(path: string, mine: Holder): Promise<string> {
  const draft = `${path}.${mine.nonce}`;
  await writeFile(draft, JSON.stringify(mine), { mode: 0o600 });
  return draft;
}

function hold(path: string, mine: Holder) {
  const beat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), beatMs);
  beat.unref();
  return {
    async release(): Promise<void> {
      clearInterval(beat);
      if ((await read(path))?.nonce === mine.nonce) await rm(path, { force: true });
    },
  };
}

async function read(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

async function isAlive(path: string, holder: Holder): Promise<boolean> {
  if (holder.host !== hostname()) return isTouched(path);
  if (!isRunning(holder.pid)) return false;
  const { state, threads, started } = await processOf(holder.pid);
  const gone = ended.has(state) && threads <= 1;
  return !gone && started === holder.started;
}

/** Compares the file's own times only, so clocks may differ. */
async function isTouched(path: string): Promise<boolean> {
  const touched = async () => (await stat(path).catch(() => undefined))?.mtimeMs;
  const first = await touched();
  for (let waited = 0; waited < 4 * beatMs; waited += beatMs / 4) {
    await delay(beatMs / 4);
    if ((await touched()) !== first) return true;
  }
  return false;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Fields 3, 20 and 22 of /proc/<pid>/stat, found after the parenthesised name: the state of the process, its number of threads, and
 * its start time. Without /proc the start time is null.
 */
async function processOf(pid: number): Promise<{ state: string; threads: number; started: string | null }> {
  const text = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)) ?? '';
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', threads: Number(fields[17] ?? 0), started: fields[19] ?? null };
}

/** States of a killed process that its parent has not reaped yet (a zombie). Without further threads it has no open files. */
const ended = new Set(['Z', 'X', 'x']);
