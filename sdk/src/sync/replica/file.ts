/// <reference types="node" />
/** Keeps a replica in a file of Node: an append-only journal whose every line is a transaction. */
import { link, open, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Cell } from '../cells.ts';
import { CellTables, storeOf, type Written } from './memory.ts';
import type { ReplicaMeta, ReplicaStorage, ReplicaStore, StoredCell } from './store.ts';

interface Line {
  readonly put?: readonly StoredCell[];
  readonly deleted?: readonly Cell[];
  readonly meta?: ReplicaMeta;
}

/** The journal is written anew when it is this much longer than what it holds. */
const mostWaste = 4;
const leastLines = 10_000;
const cellsPerLine = 1_000;

/** Keeps a replica in a file. Only one program at a time can open it. */
export function fileStorage(path: string): ReplicaStorage {
  return {
    async open() {
      const release = await lock(`${path}.lock`);
      try {
        return await openJournal(path, release);
      } catch (error) {
        await release();
        throw error;
      }
    },
  };
}

async function openJournal(path: string, release: () => Promise<void>): Promise<ReplicaStore> {
  const cells = new CellTables();
  const { lines, length } = await replay(path, cells);
  let written = lines;
  let file = await open(path, 'a');
  // A line that was cut off by a crash was never acknowledged.
  await file.truncate(length);
  await syncFolder(path);

  async function commit({ put, deleted, meta }: Written): Promise<void> {
    await append(file, { put, deleted, ...(meta && { meta }) });
    written += put.length + deleted.length + 1;
    if (written <= leastLines || written <= mostWaste * cells.size) return;
    // What was written is durable in the long journal, too; the next attempt follows after as many lines again.
    await compact().catch(() => (written = 0));
  }

  async function compact(): Promise<void> {
    const next = await open(`${path}.next`, 'a');
    try {
      await next.truncate(0);
      const all = cells.all();
      if (cells.meta) await next.appendFile(textOf({ meta: cells.meta }));
      for (let at = 0; at < all.length; at += cellsPerLine)
        await next.appendFile(textOf({ put: all.slice(at, at + cellsPerLine) }));
      await next.sync();
      await rename(`${path}.next`, path);
      written = all.length;
    } catch (error) {
      await next.close();
      throw error;
    }
    const before = file;
    file = next;
    await before.close();
    await syncFolder(path);
  }

  return storeOf(cells, commit, async () => {
    await file.close();
    await release();
  });
}

const textOf = (line: Line): string => `${JSON.stringify(line)}\n`;

/** Appends durably. What cannot be written whole is taken back, so that it does not precede what is written later. */
async function append(file: FileHandle, line: Line): Promise<void> {
  const { size } = await file.stat();
  try {
    await file.appendFile(textOf(line));
    await file.datasync();
  } catch (error) {
    await file.truncate(size);
    throw error;
  }
}

async function replay(path: string, cells: CellTables): Promise<{ lines: number; length: number }> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  let lines = 0;
  let length = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, length)) {
    const line = parsed(bytes.toString('utf8', length, end), path);
    for (const cell of line.put ?? []) cells.put(cell);
    for (const cell of line.deleted ?? []) cells.delete(cell);
    cells.meta = line.meta ?? cells.meta;
    lines += (line.put?.length ?? 0) + (line.deleted?.length ?? 0) + 1;
    length = end + 1;
  }
  return { lines, length };
}

function parsed(text: string, path: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch (cause) {
    throw new Error(`${path}: not the journal of a replica, or damaged`, { cause });
  }
}

/** A new name of a file is durable when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  await folder.sync();
  await folder.close();
}

/** This process, and not a later one with the same id. */
const thisProcess = `${process.pid} ${performance.timeOrigin}`;

/** Holds a file that names this process. One that was left behind by a process that is gone is taken over. */
async function lock(path: string): Promise<() => Promise<void>> {
  const mine = `${thisProcess} ${crypto.randomUUID()}`;
  const holder = await acquire(path, mine);
  if (holder !== undefined)
    throw new Error(`${path}: the process ${holder.split(' ', 1)[0]} uses this replica`);
  return async () => {
    if ((await holderOf(path)) === mine) await rm(path, { force: true });
  };
}

/**
 * Makes a file the lock of `mine` and returns undefined, or returns who holds it. A lock that was left behind is replaced, never removed,
 * and only by the holder of a second lock that is named after it: so no two processes take it over.
 */
async function acquire(path: string, mine: string): Promise<string | undefined> {
  for (;;) {
    if (await placed(path, mine)) return undefined;
    const holder = await holderOf(path);
    if (holder === undefined) continue;
    if (isHeld(holder)) return holder;
    const successor = `${path}.${holder.replaceAll(/[^\w-]/g, '-').slice(0, 100)}`;
    const other = await acquire(successor, mine);
    if (other !== undefined) return other;
    try {
      if ((await holderOf(path)) !== holder) continue;
      await rename(await draftOf(path, mine), path);
      return undefined;
    } finally {
      await rm(successor, { force: true });
    }
  }
}

/** Links a finished file into place, so that nobody reads half of it. */
async function placed(path: string, mine: string): Promise<boolean> {
  const draft = await draftOf(path, mine);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function draftOf(path: string, mine: string): Promise<string> {
  const draft = `${path}.${crypto.randomUUID()}`;
  await writeFile(draft, mine);
  return draft;
}

const holderOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

function isHeld(holder: string): boolean {
  const pid = Number(holder.split(' ', 1)[0]);
  return pid === process.pid ? holder.startsWith(`${thisProcess} `) : isRunning(pid);
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
