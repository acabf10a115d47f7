import { expect, it } from 'vitest';
import { messageText } from './message-text.ts';

it('renders paragraphs and links in their order, in both forms', () => {
  const href = 'https://example.com/?a=1&b=2';
  const { subject, text, html } = messageText('Hi', ['One\nand <two>', { href, button: 'Go' }, 'Three']);
  expect(subject).toBe('Hi');
  expect(text).toBe(`One\nand <two>\n\n${href}\n\nThree\n`);
  expect(html).toContain(
    '<body><p>One<br>and &lt;two&gt;</p><p><a href="https://example.com/?a=1&amp;b=2">Go</a></p>' +
      '<p>https://example.com/?a=1&amp;b=2</p><p>Three</p></body>',
  );
});
