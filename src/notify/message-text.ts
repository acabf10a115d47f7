import { escapeHtml } from '../http/html.ts';
import type { MessageText } from './message.ts';

/** A link in a message: a button with the address below it. */
export interface Link {
  readonly href: string;
  readonly button: string;
}

/** Renders paragraphs and links as plain text and as HTML. Every part is escaped in the markup. */
export const messageText = (
  subject: string,
  parts: readonly (string | Link)[],
): MessageText & { html: string } => ({
  subject,
  text: `${parts.map((part) => (typeof part === 'string' ? part : part.href)).join('\n\n')}\n`,
  html:
    '<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body>' +
    `${parts.map((part) => (typeof part === 'string' ? paragraph(part) : linkMarkup(part))).join('')}</body></html>\n`,
});

const paragraph = (text: string) => `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>`;

const linkMarkup = ({ href, button }: Link) =>
  `<p><a href="${escapeHtml(href)}">${escapeHtml(button)}</a></p>${paragraph(href)}`;
