import { readFileSync } from 'node:fs';

/** The number of files and sockets that the process may have open; infinite when the limit is unknown. */
export function descriptorLimit(read = () => readFileSync('/proc/self/limits', 'utf8')): number {
  try {
    const soft = /^Max open files\s+(\S+)/m.exec(read())?.[1] ?? 'unlimited';
    return soft === 'unlimited' ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/** The share of the descriptors for the files of the embedded database, which opens and closes files as it needs them. */
export const databaseFiles = (limit: number): number => Math.min(1_000, Math.max(64, Math.floor(limit / 4)));

/** Descriptors for everything else: loaded code, logs, connections to other servers. */
const others = 64;

/** The number of clients that may be connected while the database can still open its files. */
export const connectionsWithin = (limit: number): number =>
  Math.max(16, limit - databaseFiles(limit) - others);
