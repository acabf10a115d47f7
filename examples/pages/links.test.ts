/** The links of all pages lead somewhere, and the README stays short. */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf, linksOf } from '../testing/links.ts';
import { pageFiles, readPage, root } from '../testing/pages.ts';

const pages = new Map(
  await Promise.all((await pageFiles()).map(async (file) => [file, await readPage(file)] as const)),
);

it.each([...pages.values()])('the links of $file lead to files and headings', async ({ file, text }) => {
  const dead: string[] = [];
  for (const link of linksOf(text)) {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : join(dirname(file), path);
    const exists = await stat(join(root, target)).catch(() => undefined);
    const page = anchor === undefined ? undefined : await readPage(target).catch(() => undefined);
    if (!exists || (anchor !== undefined && !anchorsOf(page?.text ?? '').has(anchor))) dead.push(link);
  }
  expect(dead).toEqual([]);
});

it.each([...pages.values()])('$file begins with its title', ({ text }) => {
  expect(text).toMatch(/^# \S/);
});

it('the index leads to every page', () => {
  const listed = linksOf(pages.get('docs/README.md')?.text ?? '').map((link) => join('docs', link));
  const others = [...pages.keys()].filter((file) => file.startsWith('docs/') && file !== 'docs/README.md');
  expect(listed).toEqual(expect.arrayContaining(others));
});

it('the README has at most 150 lines', () => {
  expect(pages.get('README.md')?.text.split('\n').length).toBeLessThanOrEqual(151);
});
