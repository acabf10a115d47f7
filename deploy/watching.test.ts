/** The dashboard and the alerts ask for figures that exist. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
const figures = (
  await Promise.all(['../src/figures.ts', '../src/http/metrics.ts'].map((path) => read(path)))
).join('\n');

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly w: number; readonly x: number };
  readonly targets?: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(await read('grafana.json')) as { panels: Panel[] };
const { groups } = parse(await read('alerts.yaml')) as {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
};
const graphs = panels.filter(({ type }) => type === 'timeseries');
const asked: [string, string][] = [
  ...graphs.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
  ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }): [string, string] => [alert, expr])),
];

/** `job` comes from Prometheus, and the cells of the histogram name their labels in another way. */
const known = [
  ...[...figures.matchAll(/labels: \{([^}]*)\}/g)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []),
  ...['job', 'le', 'status', 'operation'],
];

test.each(asked)('%s: %s', (_name, expr) => {
  const names = expr.match(/\bplinth_\w+/g) ?? [];
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(figures).toContain(`'${name.replace(/_(?:count|bucket)$/, '')}'`);
  const labels = expr.match(/(?<=by \()[^)]+/g)?.flatMap((list) => list.split(', ')) ?? [];
  for (const label of labels) expect(known).toContain(label);
});

test('the page for operators has each alert', async () => {
  const page = await read('../docs/production.md');
  const watched = new Set(
    asked.slice(-groups[0]!.rules.length).flatMap(([, expr]) => expr.match(/\bplinth_\w+/g) ?? []),
  );
  for (const name of watched) expect(page).toContain(name.replace(/_(?:count|bucket)$/, ''));
});
