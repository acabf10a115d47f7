import type { ServerResponse } from 'node:http';

/** A page for people, and the policy for what it may load. */
export interface HtmlPage {
  readonly title: string;
  /** Content-Security-Policy directives besides those of every page. */
  readonly policy: readonly string[];
  /** Markup; text in it is already escaped. */
  readonly body: string;
  /** Styles and scripts; they stand in the head. */
  readonly head?: string;
  /** Whether caches must not keep the page. */
  readonly isPrivate?: boolean;
}

/** Directives of every page: it loads nothing from other servers and submits no forms. */
const always = ["default-src 'none'", "img-src 'self' data:", "base-uri 'none'", "form-action 'none'"];

/** Sends a page. Its empty icon keeps browsers from requesting a favicon. */
export function sendHtml(
  res: ServerResponse,
  { title, policy, body, head = '', isPrivate = false }: HtmlPage,
): void {
  res.setHeader('Content-Security-Policy', [...always, "frame-ancestors 'none'", ...policy].join('; '));
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Referrer-Policy', 'no-referrer');
  if (isPrivate) res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  res.end(
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">' +
      `<title>${escapeHtml(title)}</title>${head}</head><body>${body}</body></html>\n`,
  );
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for markup and for quoted attribute values. */
export const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (character) => entities[character]!);

/** Markup that only `markup` creates, so that no text reaches a page unescaped. */
export class Markup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** A value in a template: text is escaped, markup is not, arrays are joined, and undefined, null and false render as nothing. */
export type Hole = string | number | Markup | readonly Hole[] | undefined | null | false;

/** Template tag that creates markup. Attribute values must be in double quotes. */
export const markup = (parts: TemplateStringsArray, ...holes: readonly Hole[]): Markup =>
  new Markup(parts.reduce((text, part, at) => text + filled(holes[at - 1]) + part));

function filled(hole: Hole): string {
  if (hole === undefined || hole === null || hole === false) return '';
  if (hole instanceof Markup) return hole.toString();
  if (typeof hole === 'object') return hole.map(filled).join('');
  return escapeHtml(String(hole));
}
