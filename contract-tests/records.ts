/** The answers in the last run, recorded by every test process in its own file. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One answer of one operation. */
export interface Seen {
  readonly target: string;
  /** For example `authz.Roles_create`. */
  readonly operation: string;
  readonly status: number;
}

/** Kept after the run, so that the coverage can be computed again without it. */
const folder = fileURLToPath(new URL('../node_modules/.cache/contract/', import.meta.url));

export function forgetRecords(): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

/** Records that a test file runs. */
export const noteFile = (path: string): void => appendFileSync(`${folder}files.txt`, `${path}\n`);

/** Returns the test files of the last run, as absolute paths. */
export const readFiles = (): ReadonlySet<string> =>
  new Set(readFileSync(`${folder}files.txt`, 'utf8').split('\n'));

const noted = new Set<string>();

export function note(seen: Seen): void {
  const line = JSON.stringify(seen);
  if (noted.has(line)) return;
  noted.add(line);
  appendFileSync(`${folder}${process.pid}.jsonl`, `${line}\n`);
}

export function readRecords(): Seen[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.jsonl'));
  const lines = files.flatMap((file) => readFileSync(`${folder}${file}`, 'utf8').split('\n'));
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Seen);
}

/** Records the operations of a target. */
export function noteServed(target: string, operations: readonly string[]): void {
  writeFileSync(`${folder}${target}.json`, JSON.stringify(operations));
}

/** Returns the operations of a target. @throws Error when the target was not part of the last run */
export const readServed = (target: string): string[] =>
  JSON.parse(readFileSync(`${folder}${target}.json`, 'utf8')) as string[];
