/** What went over the wire in the last run, noted by every process that tests in a file of its own. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One answer of one operation. */
export interface Seen {
  readonly target: string;
  /** `authz.Roles_create` */
  readonly operation: string;
  readonly status: number;
}

/** Outlives the run, so that the coverage can be computed again without it. */
const folder = fileURLToPath(new URL('../node_modules/.cache/contract/', import.meta.url));

export function forgetRecords(): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

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

/** Which operations a target of the run has. */
export function noteServed(target: string, operations: readonly string[]): void {
  writeFileSync(`${folder}${target}.json`, JSON.stringify(operations));
}

/** Throws when the target was not part of the last run. */
export const readServed = (target: string): string[] =>
  JSON.parse(readFileSync(`${folder}${target}.json`, 'utf8')) as string[];
