/// <reference types="node" />
/** Keeps a replica in a file of Node: an append-only journal whose every line is a transaction. */
import { open, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
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
    if (written > leastLines && written > mostWaste * cells.size) await compact();
  }

  async function compact(): Promise<void> {
    const next = await open(`${path}.next`, 'w');
    const all = cells.all();
    if (cells.meta) await next.appendFile(textOf({ meta: cells.meta }));
    for (let at = 0; at < all.length; at += cellsPerLine)
      await next.appendFile(textOf({ put: all.slice(at, at + cellsPerLine) }));
    await next.sync();
    await next.close();
    await rename(`${path}.next`, path);
    await syncFolder(path);
    await file.close();
    file = await open(path, 'a');
    written = all.length;
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

/** The locks of this process, whose id may be that of one before it. */
const held = new Set<string>();

/** Holds a file that names this process. One that was left behind by a process that is gone is taken over. */
async function lock(path: string): Promise<() => Promise<void>> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = Number(await readFile(path, 'utf8'));
    if (owner === process.pid ? held.has(path) : isRunning(owner))
      throw new Error(`${path}: the process ${owner} uses this replica`, { cause: error });
    await rm(path, { force: true });
    return lock(path);
  }
  held.add(path);
  return async () => {
    held.delete(path);
    await rm(path, { force: true });
  };
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
