import type { ServerResponse } from 'node:http';

/** A page for people, with all that it may load. */
export interface HtmlPage {
  readonly title: string;
  /** The Content-Security-Policy besides what holds for every page. */
  readonly policy: readonly string[];
  /** Markup; texts in it are escaped already. */
  readonly body: string;
}

/** Nothing from elsewhere, nothing to elsewhere, in no frame. */
const always = ["default-src 'none'", "img-src 'self' data:", "base-uri 'none'", "form-action 'none'"];

/** Sends a page. Its empty icon keeps browsers from asking for one. */
export function sendHtml(res: ServerResponse, { title, policy, body }: HtmlPage): void {
  res.setHeader('Content-Security-Policy', [...always, "frame-ancestors 'none'", ...policy].join('; '));
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Content-Type', 'text/html; charset=utf-8');
  res.end(
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">' +
      `<title>${escapeHtml(title)}</title></head><body>${body}</body></html>\n`,
  );
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand in markup and in the quotes of an attribute. */
export const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (character) => entities[character]!);

/** Markup that is made by `markup` alone, so that nothing reaches a page unescaped. */
export class Markup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** What may stand in a template: text is escaped, markup is not, several stand one after the other, nothing is nothing. */
export type Hole = string | number | Markup | readonly Hole[] | undefined | null | false;

/** Makes markup. Attribute values have to stand in double quotes. */
export const markup = (parts: TemplateStringsArray, ...holes: readonly Hole[]): Markup =>
  new Markup(parts.reduce((text, part, at) => text + filled(holes[at - 1]) + part));

function filled(hole: Hole): string {
  if (hole === undefined || hole === null || hole === false) return '';
  if (hole instanceof Markup) return hole.toString();
  if (typeof hole === 'object') return hole.map(filled).join('');
  return escapeHtml(String(hole));
}
