/** What the page for operators names exists. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadServices, serviceNames } from './app.ts';
import { readConfig } from './config.ts';

const page = await readFile(new URL('../docs/production.md', import.meta.url), 'utf8');
const named = (form: RegExp) => [...new Set(page.match(form))];

test.each(named(/\bPLINTH_[A-Z0-9_]+/g))('%s is a setting', async (name) => {
  const modules = await loadServices(serviceNames);
  expect(() => readConfig(modules, {}, { [name]: '' })).not.toThrow();
});

test.each(named(/\bplinth_[a-z_]+/g))('%s is a figure', async (name) => {
  const sources = await Promise.all(
    ['./figures.ts', './http/metrics.ts'].map((file) => readFile(new URL(file, import.meta.url), 'utf8')),
  );
  expect(sources.join('\n')).toContain(`'${name}'`);
});
