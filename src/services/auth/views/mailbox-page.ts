import type { Message } from '../../../../generated/auth/types.ts';
import { markup, type Markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';

/** The newest messages to users, none of which was really sent. Their links work. */
export const mailboxPage = (messages: readonly Message[]): PageView => ({
  title: 'Messages to users',
  body: markup`<h1>Messages to users</h1>
<p class="lead">Mail and texts that were not really sent, newest first. <a href="">Look for new ones</a></p>
${messages.length === 0 ? markup`<p>There is none yet. Sign somebody up, and the message to them is here.</p>` : messages.map(article)}`,
});

const article = ({ subject, to, kind, created_at, text }: Message): Markup => markup`<article>
<h2>${subject === '' ? 'Text message' : subject}</h2>
<p class="hint">To ${to} · ${kind.replaceAll('_', ' ')} · <time datetime="${created_at}">${created_at.slice(0, 19).replace('T', ' ')} UTC</time></p>
<p class="message">${text === '' ? 'It was handed over, and what it said is kept nowhere.' : linked(text)}</p>
</article>
`;

/** The text, with its URLs as links. */
const linked = (text: string) =>
  text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, at) => (at % 2 === 0 ? part : markup`<a href="${part}">${part}</a>`));
