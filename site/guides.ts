/**
 * Reads the pages in `docs/`: what they are called, in which order they come, and where their links lead on the site. Pages in the
 * root of the project to which these link, such as the change log, belong to them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

export const docsFolder = new URL('../docs/', import.meta.url);

export interface Guide {
  /** The path of the file, relative to the folder. */
  readonly file: string;
  /** Its address within the site, without slashes at the ends; `index` is the first page. */
  readonly slug: string;
  readonly title: string;
  /** The Markdown below the title. */
  readonly body: string;
}

export interface GuideGroup {
  readonly label: string;
  readonly guides: readonly Guide[];
}

const index = 'README.md';

/** All guides. Without an index page, a short one takes its place. */
export function readGuides(folder: URL = docsFolder): Guide[] {
  const read = (file: string) => guideOf(file, readFileSync(new URL(file, folder), 'utf8'));
  const files = existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]) : [];
  const inside = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map(read);
  const above = new Set(inside.flatMap(targetsOf).filter((file) => /^\.\.\/[\w-]+\.md$/.test(file)));
  const guides = [...inside, ...[...above].filter((file) => existsSync(new URL(file, folder))).map(read)];
  return guides.some(({ file }) => file === index)
    ? guides
    : [guideOf(index, '# Documentation\n'), ...guides];
}

/** The files to which a guide links, relative to the folder. */
function targetsOf({ file, body }: Guide): string[] {
  const links = [...body.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => target);
  return links.filter((target) => !isAddress(target)).map((target) => resolved(file, target));
}

/** The file to which a link in another one leads, relative to the folder. */
const resolved = (from: string, target: string): string =>
  posix.join(posix.dirname(from), target).replace(/^\.\.\/docs\//, '');

/** A guide begins with its title: `# Errors`. */
export function guideOf(file: string, text: string): Guide {
  const slug =
    file === index
      ? 'index'
      : file
          .replace(/^\.\.\//, '')
          .replace(/(\/README)?\.md$/, '')
          .toLowerCase();
  const [, title = slug, body = text] = /^# (.+)\n([^]*)$/.exec(text) ?? [];
  return { file, slug, title: title.replaceAll('`', ''), body };
}

/**
 * The guides in the order in which the index page names them, under the headings where it names them. The others follow in
 * alphabetical order.
 */
export function groupsOf(guides: readonly Guide[]): GuideGroup[] {
  const groups = new Map<string, Guide[]>();
  const add = (label: string, guide: Guide) => void groups.set(label, [...(groups.get(label) ?? []), guide]);
  const waiting = new Map(guides.filter(({ file }) => file !== index).map((guide) => [guide.file, guide]));
  let label = 'Guides';
  const first = guides.find(({ file }) => file === index);
  for (const line of first?.body.split('\n') ?? []) {
    label = /^#+ (.+)$/.exec(line)?.[1] ?? label;
    for (const target of targetsOf({ ...first!, body: line })) {
      const guide = waiting.get(target);
      if (guide && waiting.delete(target)) add(label, guide);
    }
  }
  for (const guide of waiting.values())
    add(guide.file.startsWith('services/') ? 'Services' : 'Guides', guide);
  return [...groups].map(([name, members]) => ({ label: name, guides: members }));
}

/** Points the images of a guide to the site's copies. This precedes the rendering, which would look for them in other places. */
export const withSiteImages = ({ file, body }: Guide, base: string): string =>
  body.replaceAll(/(!\[[^\]]*\]\()([^)\s]+)/g, (image, before: string, source: string) =>
    isAddress(source) ? image : before + base + resolved(file, source),
  );

/**
 * Points the links of a rendered guide to pages of the site. Text that links to a file outside of the folder stays without
 * its link, because the site does not have the file.
 */
export function withSiteLinks(html: string, guide: Guide, guides: readonly Guide[], base: string): string {
  return html.replaceAll(
    /<a href="([^"]*)"([^>]*)>(.*?)<\/a>/gs,
    (link, href: string, more: string, text: string) => {
      if (isAddress(href)) return link;
      const [path = '', anchor] = href.split('#', 2);
      const place = linked(resolved(guide.file, path), guides, base);
      if (place === undefined) return text;
      return `<a href="${place}${anchor === undefined ? '' : `#${anchor}`}"${more}>${text}</a>`;
    },
  );
}

/** Whether the target is more than a path: an address, or a place on the same page. */
const isAddress = (target: string): boolean => /^([a-z]+:|#|\/)/i.test(target);

function linked(file: string, guides: readonly Guide[], base: string): string | undefined {
  const found = guides.find((guide) => guide.file === file || guide.file === posix.join(file, index));
  if (found) return found.slug === 'index' ? base : `${base}${found.slug}/`;
  return undefined;
}

/** Lets the keyboard scroll wide tables and code. */
export const withFocusableScrollers = (html: string): string =>
  html
    .replaceAll(/<table>(.*?)<\/table>/gs, '<div class="table" tabindex="0"><table>$1</table></div>')
    .replaceAll('<pre ', '<pre tabindex="0" ');
