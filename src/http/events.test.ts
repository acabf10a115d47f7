import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encode } from './events.ts';

test.each([
  [{ data: 'hello' }, 'data: hello\n\n'],
  [{ event: 'change', id: '5', data: { seq: 5 } }, 'event: change\nid: 5\ndata: {"seq":5}\n\n'],
  [{ data: 'two\nlines\r\nand a third' }, 'data: two\ndata: lines\ndata: and a third\n\n'],
  [{ comment: 'hb' }, ': hb\n\n'],
  [{ retry: 5_000 }, 'retry: 5000\n\n'],
  [{ retry: 0.5, data: 'soon' }, 'retry: 1\ndata: soon\n\n'],
  [{ event: 'a\nb', data: '' }, 'event: a b\ndata: \n\n'],
])('%j is written as the standard says', (event, wire) => {
  expect(encode(event)).toBe(wire);
});

test('whatever a field holds, it starts no other field and ends no event', () => {
  const field = fc.string({ unit: fc.constantFrom('a', '\n', '\r', ':', 'data', '\0') });
  fc.assert(
    fc.property(field, field, field, (event, id, data) => {
      const lines = encode({ event, id, data }).slice(0, -2).split('\n');
      const [first, second, ...rest] = lines;
      expect(first).toMatch(/^event: /);
      expect(second).toMatch(/^id: /);
      expect(rest.length).toBeGreaterThan(0);
      expect(rest.every((line) => line.startsWith('data: ') && !line.includes('\r'))).toBe(true);
    }),
  );
});
