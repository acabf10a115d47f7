import { expect, test } from 'vitest';
import { contentTypeFor } from './negotiation.ts';

const report = ['text/csv', 'text/markdown', 'text/html', 'application/json'];

test.each<[accept: string | undefined, params: Record<string, string>, type: string]>([
  [undefined, {}, 'text/csv'],
  ['*/*', {}, 'text/csv'],
  ['application/json', {}, 'application/json'],
  ['application/*', {}, 'application/json'],
  ['text/html;q=0.5, application/json;q=0.9', {}, 'application/json'],
  ['text/html, */*;q=0.1', {}, 'text/html'],
  ['image/png', {}, 'text/csv'],
  ['application/json', { format: 'markdown' }, 'text/markdown'],
])('Accept %s with %o: %s', (accept, params, type) => {
  expect(contentTypeFor(report, accept, params)).toBe(type);
});

test('a path names a content type by the ending of a file', () => {
  const types = ['text/javascript', 'text/css'];
  expect(contentTypeFor(types, undefined, { file: 'app.css' })).toBe('text/css');
  expect(contentTypeFor(types, 'text/css', { file: 'app.js' })).toBe('text/javascript');
});

test('no content has no type', () => expect(contentTypeFor([], '*/*', {})).toBeUndefined());
