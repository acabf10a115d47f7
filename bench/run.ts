/**
 * `npm run bench [name …]`: measures the hot paths against their baselines in the same run, prints each row as soon as it is
 * known and writes all rows to bench/RESULTS.md. A name is that of a file or of one of its measurements: `keys`, `keys/fold`.
 * Compare the ratios: absolute figures depend on the machine.
 */
import { readdirSync } from 'node:fs';
import { removePlaces } from './place.ts';
import { line, table, write } from './results.ts';
import type { Measurement, Measurements, Row } from './row.ts';
import { scale } from './scale.ts';

const folder = new URL('./', import.meta.url);
const all = readdirSync(folder)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''))
  .sort();
const asked = process.argv.slice(2);

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void removePlaces().finally(() => process.exit(130)));

const sections = new Map<string, Row[]>();
const started = performance.now();
for (const [file, measurements] of await chosen()) {
  const rows: Row[] = [];
  for (const [name, measure] of measurements) rows.push(...(await run(`${file}/${name}`, measure)));
  console.log(`\n${table(rows)}`);
  sections.set(file, rows);
}
const whole = asked.every((name) => all.includes(name));
if (scale === 1 && whole) write(all, sections);
else console.log('A run of a part, or below full scale, is not written to the results.');
const missed = [...sections.values()].flat().filter((row) => row.met === false);
console.log(
  missed.length === 0
    ? 'Every target that was measured is met.'
    : `${missed.length} targets are missed: ${missed.map((row) => row.path).join('; ')}.`,
);
console.log(`${Math.round((performance.now() - started) / 1000)} s`);
// Handles that a library still holds open must not delay a finished run.
process.exit(0);

async function chosen(): Promise<Map<string, [string, Measurement][]>> {
  const files = new Map<string, [string, Measurement][]>();
  for (const name of asked.length > 0 ? asked : all) {
    const [file = '', part] = name.split('/');
    if (!all.includes(file)) throw new Error(`there is no benchmark ${file}, there are ${all.join(', ')}`);
    const module = (await import(new URL(`${file}.bench.ts`, folder).href)) as { default: Measurements };
    const parts = Object.entries(module.default).filter(([each]) => part === undefined || part === each);
    if (parts.length === 0)
      throw new Error(`there is no measurement ${name}, there are ${Object.keys(module.default).join(', ')}`);
    files.set(file, [...(files.get(file) ?? []), ...parts]);
  }
  return files;
}

/** Runs a measurement. A failed measurement is a missed row, and the others continue. */
async function run(name: string, measure: Measurement): Promise<Row[]> {
  const rows: Row[] = [];
  const seen = (row: Row) => {
    rows.push(row);
    console.log(line(row));
  };
  console.log(`${name} …`);
  try {
    for await (const row of measure()) seen(row);
  } catch (error) {
    console.error(error);
    const measured = `failed: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
    seen({ path: name, baseline: '–', measured, ratio: null, target: 'runs', met: false });
  }
  return rows;
}
