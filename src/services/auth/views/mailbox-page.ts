import type { Message } from '../../../../generated/auth/types.ts';
import { markup, type Markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';

/** The newest messages to users, none of which was really sent. Their links work. */
export const mailboxPage = (messages: readonly Message[]): PageView => ({
  title: 'Development mailbox',
  wide: true,
  body: markup`<h1>Development mailbox</h1>
<p class="lead">This server keeps emails and texts to users here instead of sending them. The newest come first. <a href="">Refresh</a></p>
${messages.length === 0 ? markup`<p class="said">There are no messages yet. When somebody signs up, the message to them appears here.</p>` : messages.map(article)}`,
});

const article = ({ subject, to, kind, created_at, text }: Message): Markup => markup`<article>
<h2>${subject === '' ? 'Text message' : subject}</h2>
<p class="hint">To ${to} · ${kind.replaceAll('_', ' ')} · <time datetime="${created_at}">${created_at.slice(0, 19).replace('T', ' ')} UTC</time></p>
<p class="message">${text === '' ? 'This message was delivered, and its text was not kept.' : linked(text)}</p>
</article>
`;

/** The text, with its URLs as links. */
const linked = (text: string) =>
  text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, at) => (at % 2 === 0 ? part : markup`<a href="${part}">${part}</a>`));
