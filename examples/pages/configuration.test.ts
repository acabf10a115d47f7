/** docs/configuration.md names every setting, with its default, and no other. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadServices, serviceNames } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { readPage, root } from '../testing/pages.ts';

const page = await readPage('docs/configuration.md');
const modules = await loadServices(serviceNames);

/** The rows of all tables: name and default. */
const rows = new Map(
  [...page.text.matchAll(/^\| `([A-Z0-9_<>]+)` +\| ([^|]*?) +\|/gm)].map(([, name = '', shown = '']) => [
    name,
    shown,
  ]),
);

it.each(modules.map(({ name, settings }) => ({ name, settings: Object.values(settings) })))(
  'the page has the settings of $name with their defaults',
  ({ settings }) => {
    const shown = settings.map(({ name }) => [name, rows.get(name)]);
    expect(shown).toEqual(
      settings.map((setting) => [setting.name, setting.default === '' ? 'unset' : `\`${setting.default}\``]),
    );
  },
);

it('the page has the settings of the server', async () => {
  const source = await readFile(join(root, 'src/config.ts'), 'utf8');
  const [, table = ''] = /^const table = \{(.*?)^\};/ms.exec(source) ?? [];
  const names = [...table.matchAll(/\('([A-Z_]+)'/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(20);
  expect([...rows.keys()]).toEqual(expect.arrayContaining(names));
});

it('the page names nothing that is not a setting', () => {
  const names = [...new Set(page.text.match(/\bPLINTH_[A-Z0-9_]*[A-Z0-9]\b/g))];
  const unknown = names.filter((name) => {
    try {
      readConfig(modules, {}, { [name]: '' });
      return false;
    } catch (error) {
      return String(error).includes('is not a setting');
    }
  });
  expect(unknown).toEqual([]);
});
