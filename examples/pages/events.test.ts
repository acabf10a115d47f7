/** The events that docs/events.md names are emitted. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPage, root } from '../testing/pages.ts';

it('the page names events that services emit', async () => {
  const { text } = await readPage('docs/events.md');
  const names = text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.matchAll(/`(\w+(?:\.\w+)+)`/g)].map(([, name]) => name));
  expect(names.length).toBeGreaterThan(20);
  const entries = await readdir(join(root, 'src/services'), { recursive: true, withFileTypes: true });
  const files = entries.filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const sources = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
  );
  const source = sources.join('\n');
  expect(names.filter((name) => !source.includes(`'${name}'`))).toEqual([]);
});
