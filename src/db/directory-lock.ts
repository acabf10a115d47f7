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
  /** When the process started, in the kernel's own count; tells a process from a later one with the same number. */
  readonly started: string | null;
  readonly nonce: string;
}

const beatMs = 1_000;

/**
 * Takes the directory for this process until `release` or its end, however it ends: the lock of a dead process is taken over.
 * Throws `DirectoryInUse` while a live process holds it. On another host (a volume shared by containers) a holder counts as alive
 * while it touches the file, which is watched for a few seconds.
 */
export async function lockDirectory(directory: string): Promise<{ release(): Promise<void> }> {
  const path = join(directory, 'lock');
  const mine: Holder = {
    pid: process.pid,
    host: hostname(),
    started: await startOf(process.pid),
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
 * Makes `path` the lock of `mine` and answers null, or answers the live process that has it. The lock of a dead process is replaced,
 * never removed, and only by the one that holds a second lock named after it; that one may be a dead process's too.
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

/** Links a finished file into place, so that nobody ever reads half a lock. */
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

/** False if another process has replaced the dead one's lock since it was read. */
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
  return isRunning(holder.pid) && (await startOf(holder.pid)) === holder.started;
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

/** Field 22 of /proc/<pid>/stat, counted after the parenthesised name; null where there is no /proc. */
async function startOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}
