import type { ScanRequest } from '../../../../generated/safety/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { MessageSpan } from '../engine/index.ts';

/** The most characters of all messages together, as of one text. */
const mostCharacters = 524_288;

/** What stands between two messages, so that no rule takes the end of one and the start of the next for one word. */
const gap = '\n\n';

export interface ScanText {
  readonly text: string;
  /** Where the messages are in the text; undefined when one text was sent. */
  readonly messages: readonly MessageSpan[] | undefined;
}

/** The text of a scan. @throws Invalid unless there is either a text or messages, of no more than the most characters */
export function scanTextOf({ text, messages }: Pick<ScanRequest, 'text' | 'messages'>): ScanText {
  if (messages === undefined) {
    if (text === undefined) throw Invalid('text: required, unless there are messages');
    return { text, messages: undefined };
  }
  if (text !== undefined) throw Invalid('messages: cannot be combined with text');
  const spans: MessageSpan[] = [];
  let at = 0;
  let characters = 0;
  for (const { role, content } of messages) {
    spans.push({ role, start: at, end: at + content.length });
    at += content.length + gap.length;
    characters += content.length;
  }
  if (characters > mostCharacters)
    throw Invalid(`messages: must have at most ${mostCharacters} characters together`);
  return { text: messages.map(({ content }) => content).join(gap), messages: spans };
}
