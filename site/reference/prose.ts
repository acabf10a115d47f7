import { micromark } from 'micromark';
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table';
import { markup, Markup } from '../../src/http/html.ts';

/** Renders the Markdown of a description in the contract. */
export const prose = (text: string): Markup =>
  new Markup(micromark(text, { extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()] }));

/** Renders a description that stands within a line. */
export const inline = (text: string): Markup =>
  new Markup(
    prose(text)
      .toString()
      .replace(/^<p>(.*)<\/p>$/s, '$1'),
  );

/** A code block. It can be focused, since the keyboard must be able to scroll it. */
export const codeBlock = (label: string, text: string): Markup =>
  markup`<figure class="example not-content"><figcaption>${label}</figcaption><pre tabindex="0"><code>${text}</code></pre></figure>`;
