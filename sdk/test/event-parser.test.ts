import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventParser } from '../src/runtime/event-parser.ts';

describe('the parser of event streams', () => {
  const parse = (...pieces: string[]) => {
    const parser = eventParser();
    return { events: pieces.flatMap((piece) => parser.push(piece)), retry: parser.retry };
  };

  it.each([
    ['a name, an id and data', 'event: a\nid: 1\ndata: x\n\n', [{ event: 'a', id: '1', data: 'x' }]],
    ['the default name', 'data: x\n\n', [{ event: 'message', id: undefined, data: 'x' }]],
    [
      'several lines of data',
      'data: x\ndata:y\ndata\n\n',
      [{ event: 'message', id: undefined, data: 'x\ny\n' }],
    ],
    ['one space taken from a value', 'data:  x\n\n', [{ event: 'message', id: undefined, data: ' x' }]],
    [
      'an id that holds for later events',
      'id: 7\ndata: x\n\ndata: y\n\n',
      [
        { event: 'message', id: '7', data: 'x' },
        { event: 'message', id: '7', data: 'y' },
      ],
    ],
    ['no event for comments', ':\n\n: beat\n\n', []],
    [
      'no event without data, nor its name for the next one',
      'event: a\n\ndata: x\n\n',
      [{ event: 'message', id: undefined, data: 'x' }],
    ],
    [
      'no event that the end cuts off',
      'data: x\n\ndata: y\n',
      [{ event: 'message', id: undefined, data: 'x' }],
    ],
    [
      'unknown fields passed over',
      'colour: red\ndata: x\n\n',
      [{ event: 'message', id: undefined, data: 'x' }],
    ],
    [
      'an id with a NUL passed over',
      'id: 1\0\ndata: x\n\n',
      [{ event: 'message', id: undefined, data: 'x' }],
    ],
  ])('reads %s', (_, text, events) => {
    expect(parse(text).events).toEqual(events);
  });

  it('reads when to come back', () => {
    expect([parse('retry: 250\n\n').retry, parse('retry: soon\n\n').retry]).toEqual([250, undefined]);
  });

  it('reads the same whatever ends the lines and wherever the text is cut', () => {
    const field = fc.constantFrom(
      'event: a',
      'id: 1',
      'data: x',
      'data:',
      ': comment',
      'retry: 5',
      '',
      '',
      'data: größe',
    );
    const stream = fc.array(fc.tuple(field, fc.constantFrom('\n', '\r\n', '\r')));
    fc.assert(
      fc.property(stream, fc.infiniteStream(fc.integer({ min: 1, max: 4 })), (lines, sizes) => {
        const text = lines.map(([line, end]) => line + end).join('');
        const pieces: string[] = [];
        for (let at = 0; at < text.length;) {
          const { value: size } = sizes.next() as { value: number };
          pieces.push(text.slice(at, at + size), '');
          at += size;
        }
        expect(parse(...pieces)).toEqual(parse(text));
      }),
    );
  });
});
