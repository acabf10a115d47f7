/** The output of rows: as lines while they arrive, and as tables in bench/RESULTS.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { round, type Row } from './row.ts';

const file = new URL('RESULTS.md', import.meta.url);

const verdict = ({ met }: Row) => (met === null ? '–' : met ? 'met' : 'missed');
const times = ({ ratio }: Row) => (ratio === null ? '' : `${round(ratio)} ×`);

export function line(row: Row): string {
  const target = row.target === '' ? '' : `(${row.target})`;
  return `  ${verdict(row).padEnd(6)} ${`${times(row)} ${target}`.trim().padEnd(22)} ${row.path} | ${row.measured}`;
}

export function table(rows: readonly Row[]): string {
  const head = ['| path | baseline | ratio | target | | measured |', '|---|---|---|---|---|---|'];
  const lines = rows.map((row) => {
    const mark = row.met === false ? '**missed**' : verdict(row);
    const cells = [row.path, row.baseline, times(row), row.target, mark, row.measured];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return [...head, ...lines, ''].join('\n');
}

/** Writes the results. Sections that were not measured this time keep their last results. */
export function write(all: readonly string[], sections: ReadonlyMap<string, readonly Row[]>): void {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  const known = new Map(previous());
  for (const [name, rows] of sections) known.set(name, `${date}, ${machine}\n\n${table(rows)}`);
  const parts = all.filter((name) => known.has(name)).map((name) => `## ${name}\n\n${known.get(name)}`);
  const head =
    'Written by `npm run bench`. Ratios to a baseline measured in the same run; absolute figures belong to the machine.';
  writeFileSync(file, `# Benchmarks\n\n${head}\n\n${parts.join('\n')}`);
}

function previous(): [string, string][] {
  try {
    const parts = readFileSync(file, 'utf8').split(/^## /m).slice(1);
    return parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), `${part.slice(end + 2).trimEnd()}\n`];
    });
  } catch {
    return [];
  }
}
