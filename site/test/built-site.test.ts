/** What the built site as a whole promises, read from its files. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, type DefaultTreeAdapterTypes } from 'parse5';
import { beforeAll, describe, expect, test } from 'vitest';
import { operations, services, type ServiceName } from '../../generated/operations.ts';
import type { Manifest } from '../../src/http/site/manifest.ts';
import { readServices } from '../reference/services.ts';
import { builtSite } from './server.ts';

interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly node: Node;
}

let files: Manifest['files'];
const pages = new Map<string, readonly Element[]>();
beforeAll(async () => {
  ({ files } = JSON.parse(await readFile(join(builtSite, 'manifest.json'), 'utf8')) as Manifest);
  for (const name of Object.keys(files).filter((file) => file.endsWith('.html')))
    pages.set(name, elementsOf(parse(await readFile(join(builtSite, name), 'utf8'))));
});

type Node = DefaultTreeAdapterTypes.Node;

function elementsOf(node: Node): Element[] {
  const children = 'content' in node ? node.content.childNodes : 'childNodes' in node ? node.childNodes : [];
  const inner = children.flatMap(elementsOf);
  if (!('tagName' in node)) return inner;
  const attributes = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
  return [{ tag: node.tagName, attributes, node }, ...inner];
}

const textOf = (node: Node): string =>
  'value' in node ? node.value : 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';

const anchorsOf = (name: string) =>
  new Set(pages.get(name)!.flatMap(({ attributes: { id } }) => (id === undefined ? [] : [id])));

describe('the reference', () => {
  test.each(Object.keys(services) as ServiceName[])(
    'has every operation of %s, and its page in front',
    (name) => {
      const front = `docs/reference/${name}/index.html`;
      const own = [...pages.keys()].filter((page) => page.startsWith(`docs/reference/${name}/`));
      const anchors = new Set(own.flatMap((page) => [...anchorsOf(page)]));
      const ids = operations.filter(({ service }) => service === name).map(({ id }) => id);
      expect(ids.filter((id) => !anchors.has(id))).toEqual([]);
      for (const section of ['authentication', 'errors', 'operations'])
        expect(anchorsOf(front)).toContain(section);
      const pageOfAnOperation = own.find((page) => anchorsOf(page).has(ids[0]!))!;
      const links = pages.get(pageOfAnOperation)!.map(({ attributes }) => attributes['href']);
      expect(links).toContain('/docs/');
      expect(links).toContain(`/docs/reference/${name}/`);
    },
  );

  test('tells which services the server does not have yet', () => {
    for (const { name, served } of readServices()) {
      const notes = pages
        .get(`docs/reference/${name}/index.html`)!
        .filter(({ attributes }) => attributes['class'] === 'absent');
      expect([name, notes.length]).toEqual([name, served ? 0 : 1]);
    }
  });

  test('shows of an operation its path, its scope, its fields with their bounds, and an example', () => {
    const main = pages.get('docs/reference/authz/roles/index.html')!.find(({ tag }) => tag === 'main')!.node;
    const words = textOf(main).replaceAll(/\s+/g, ' ');
    for (const part of [
      'POST /authz/v1/roles',
      'Needs the scope authz:write.',
      'name string required',
      '1 to 128 characters',
      'curl -X POST "$PLINTH_URL/authz/v1/roles"',
      'Errors 400 401 403',
    ])
      expect(words).toContain(part);
  });
});

describe('all pages', () => {
  test('link to pages and places that exist', () => {
    const broken: string[] = [];
    // The server has these beside the site.
    const beside = /^\/(\w+\/(docs|openapi\.json))?$/;
    for (const [page, elements] of pages) {
      const own = `/${page.replace(/index\.html$/, '')}`;
      for (const { tag, attributes } of elements) {
        const { href } = attributes;
        if (tag !== 'a' || href === undefined || /^[a-z]+:/.test(href) || beside.test(href)) continue;
        const { pathname, hash } = new URL(href, `http://site${own}`);
        const target = `${pathname.slice(1)}${pathname.endsWith('/') ? 'index.html' : ''}`;
        const anchor = decodeURIComponent(hash.slice(1));
        if (!(target in files) || (anchor && pages.has(target) && !anchorsOf(target).has(anchor)))
          broken.push(`${page}: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('load only files of the site, and have no script within them', () => {
    const wrong: string[] = [];
    for (const [page, elements] of pages)
      for (const { tag, attributes, node } of elements) {
        const source = attributes['src'] ?? (tag === 'link' ? attributes['href'] : undefined);
        const loaded = source === undefined || source.startsWith('data:') || source.slice(1) in files;
        if (!loaded || (tag === 'script' && textOf(node) !== '') || tag === 'style')
          wrong.push(`${page}: <${tag}> ${source}`);
      }
    expect(wrong).toEqual([]);
  });

  test('have a title of their own, of a few words', () => {
    const titles = [...pages].map(
      ([page, elements]) => [textOf(elements.find(({ tag }) => tag === 'title')!.node), page] as const,
    );
    expect(new Set(titles.map(([title]) => title)).size).toBe(titles.length);
    for (const [title] of titles) expect(title.split(/\s+/).length).toBeLessThanOrEqual(9);
  });

  test('are compressed in advance', () => {
    const plain = [...pages.keys()].filter((page) => files[page]!.codings.length !== 2);
    expect(plain).toEqual([]);
  });
});
