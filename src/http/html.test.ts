import { expect, test } from 'vitest';
import { markup } from './html.ts';

test('texts are escaped, markup stands as it is, nothing is nothing', () => {
  const name = `<script>"&'`;
  const item = (text: string) => markup`<li>${text}</li>`;
  expect(String(markup`<p title="${name}">${name}</p>`)).toBe(
    '<p title="&lt;script&gt;&quot;&amp;&#39;">&lt;script&gt;&quot;&amp;&#39;</p>',
  );
  expect(String(markup`<ul>${['a', '<b>'].map(item)}</ul>${undefined}${null}${false}${0}`)).toBe(
    '<ul><li>a</li><li>&lt;b&gt;</li></ul>0',
  );
});
