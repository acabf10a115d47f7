/** The ratios on the README and on docs/compare.md claim no more than what bench/RESULTS.md says. */
import { expect, it } from 'vitest';
import { readPage } from '../testing/pages.ts';

const cells = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const rowsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => / × +\|/.test(line))
    .map(cells);
const ratio = (text = '') => Number(text.replaceAll(',', '').replace(' ×', ''));

const results = await readPage('bench/RESULTS.md');
const measured = new Map(
  rowsOf(results.text).map(([path, peer, value]) => [`${path} | ${peer}`, ratio(value)]),
);

/** Rounding, and what differs from one run to the next. */
const leeway = 1.15;

it.each(['README.md', 'docs/compare.md'])('%s names measured ratios', async (file) => {
  const rows = rowsOf((await readPage(file)).text);
  expect(rows.length).toBeGreaterThan(2);
  for (const [path, peer, claimed] of rows) {
    const found = measured.get(`${path} | ${peer}`);
    expect(found, `${path} | ${peer}`).toBeDefined();
    expect(ratio(claimed), `${path} | ${peer}`).toBeLessThanOrEqual(found! * leeway);
  }
});
