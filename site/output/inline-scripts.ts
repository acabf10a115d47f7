/** Moves scripts out of the pages, so that the server can forbid all scripts that are not files of its own. */
import { createHash } from 'node:crypto';

export interface Moved {
  readonly html: string;
  /** The files of the scripts: the name, and the text. */
  readonly scripts: ReadonlyMap<string, string>;
}

/** A script runs where it stood and in the same order, since a script in a file blocks the page like one within it. */
export function withoutInlineScripts(html: string, folder: string): Moved {
  const scripts = new Map<string, string>();
  const moved = html.replaceAll(
    /<script(?![^>]* src=)([^>]*)>(.*?)<\/script>/gs,
    (_, attributes: string, text: string) => {
      const name = `inline.${createHash('sha256').update(text).digest('hex').slice(0, 12)}.js`;
      scripts.set(name, text);
      return `<script${attributes} src="${folder}${name}"></script>`;
    },
  );
  return { html: moved, scripts };
}
