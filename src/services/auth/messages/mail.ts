import type { MessageText } from '../../../notify/message.ts';
import { withoutHidden } from '../../../lib/shown-text.ts';
import type { Look } from '../look/look.ts';
import { mailMarkup } from './mail-markup.ts';

/** A mail before it has a form: what it says, in the order in which it says it. */
export interface Mail {
  readonly subject: string;
  readonly heading: string;
  /** The line that lists of mails show beside the subject. */
  readonly preview: string;
  readonly parts: readonly Part[];
}

/** Text is a paragraph. */
export type Part = string | Link | Facts | Remark;

/** A link: a button, and its address for those who cannot press it. */
export interface Link {
  readonly href: string;
  readonly button: string;
}

/** Facts, each with its label. */
export interface Facts {
  readonly facts: readonly (readonly [label: string, value: string])[];
}

/** A paragraph that matters only to some readers. */
export interface Remark {
  readonly remark: string;
}

/** The most characters of a subject: those that the contract allows. */
const mostInSubject = 256;

/** Renders both forms of a mail, which say the same. The subject is one line, whatever the names in it contain. */
export function mailOf(mail: Mail, look: Look): MessageText & { readonly html: string } {
  const subject = clipped(withoutHidden(mail.subject));
  return { subject, text: plainText(mail, look), html: mailMarkup({ ...mail, subject }, look) };
}

function clipped(subject: string): string {
  const characters = [...subject];
  return characters.length <= mostInSubject ? subject : `${characters.slice(0, mostInSubject - 1).join('')}…`;
}

/** The last part names the sender, below the line that mail programs know a signature by. */
const plainText = ({ parts }: Mail, { name, tagline }: Look): string =>
  `${[...parts.map(plainPart), ['-- ', name, ...(tagline === '' ? [] : [tagline])].join('\n')].join('\n\n')}\n`;

function plainPart(part: Part): string {
  if (typeof part === 'string') return part;
  if ('href' in part) return `${part.button}:\n${part.href}`;
  if ('facts' in part) return part.facts.map(([label, value]) => `${label}: ${value}`).join('\n');
  return part.remark;
}
