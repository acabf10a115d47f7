import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  groupsOf,
  guideOf,
  readGuides,
  withFocusableScrollers,
  withSiteImages,
  withSiteLinks,
} from './guides.ts';

const guides = [
  guideOf(
    'README.md',
    '# Start\n\n## First\n\n- [B](b.md)\n- [B again](b.md#x)\n\n## Services\n\n- [Auth](./services/auth.md)\n',
  ),
  guideOf('a.md', '# A page\n\nText.\n'),
  guideOf('b.md', '# `B`\n'),
  guideOf('services/auth.md', '# Auth\n'),
  guideOf('services/keys.md', '# Keys\n'),
];

test('a guide has the title of its first line, and an address', () => {
  expect(guides[1]).toEqual({ file: 'a.md', slug: 'a', title: 'A page', body: '\nText.\n' });
  expect(guides.map(({ slug }) => slug)).toEqual(['index', 'a', 'b', 'services/auth', 'services/keys']);
  expect(guides[2]!.title).toBe('B');
});

test('guides are in the order of the index, under its headings, and those it does not name follow', () => {
  const groups = groupsOf(guides).map(({ label, guides: members }) => [
    label,
    members.map(({ slug }) => slug),
  ]);
  expect(groups).toEqual([
    ['First', ['b']],
    ['Services', ['services/auth', 'services/keys']],
    ['Guides', ['a']],
  ]);
});

describe('a link in a guide', () => {
  const auth = guides[3]!;
  test.each([
    ['<a href="../a.md">A</a>', '<a href="/docs/a/">A</a>'],
    ['<a href="../a.md#part">A</a>', '<a href="/docs/a/#part">A</a>'],
    ['<a href="../README.md">Start</a>', '<a href="/docs/">Start</a>'],
    ['<a href="#part">here</a>', '<a href="#part">here</a>'],
    ['<a href="https://example.com/a.md">there</a>', '<a href="https://example.com/a.md">there</a>'],
    ['<a href="../../src/main.ts"><code>main.ts</code></a>', '<code>main.ts</code>'],
  ])('%s becomes %s', (written, expected) => {
    expect(withSiteLinks(written, auth, guides, '/docs/')).toBe(expected);
  });

  test('in a page above the folder leads into it', () => {
    const above = guideOf('../CHANGELOG.md', '# Changes\n');
    expect(above.slug).toBe('changelog');
    expect(withSiteLinks('<a href="docs/a.md">A</a>', above, guides, '/')).toBe('<a href="/a/">A</a>');
  });
});

test('an image in a guide is that of the site', () => {
  const image = (file: string, source: string) =>
    withSiteImages(guideOf(file, `# Title\n\n![A](${source})`), '/docs/').trim();
  expect(image('services/auth.md', '../images/a.svg')).toBe('![A](/docs/images/a.svg)');
  expect(image('../README.md', 'docs/images/a.svg')).toBe('![A](/docs/images/a.svg)');
  expect(image('a.md', 'data:,')).toBe('![A](data:,)');
});

test('tables and code can be scrolled with the keyboard', () => {
  expect(withFocusableScrollers('<table><tr></tr></table><pre class="a">x</pre>')).toBe(
    '<div class="table" tabindex="0"><table><tr></tr></table></div><pre tabindex="0" class="a">x</pre>',
  );
});

describe('the folder of the guides', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'plinth-guides-'));
    await mkdir(join(root, 'docs/services'), { recursive: true });
    await writeFile(
      join(root, 'docs/services/auth.md'),
      '# Auth\n\n[Changes](../../CHANGELOG.md), [Gone](../../GONE.md)\n',
    );
    await writeFile(join(root, 'CHANGELOG.md'), '# Changes\n');
    await writeFile(join(root, 'NOTES.md'), '# Notes\n');
  });
  afterAll(() => rm(root, { recursive: true }));

  test('brings the pages above it to which it links, and needs no index', () => {
    const read = (folder: string) =>
      readGuides(pathToFileURL(`${join(root, folder)}/`)).map(({ slug }) => slug);
    expect(read('docs')).toEqual(['index', 'services/auth', 'changelog']);
    expect(read('nothing')).toEqual(['index']);
  });
});
