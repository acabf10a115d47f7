import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dataTexts } from './data-texts.ts';

test.each<[string, (string | undefined)[]]>([
  ['{"data":{"a":1.0}}', ['{"a":1.0}']],
  [' { "type" : "x" ,\n "data"\t: { "b" : 1e2 , "10" : [ -0 ] } } ', ['{ "b" : 1e2 , "10" : [ -0 ] }']],
  ['{"d\\u0061ta":{}}', ['{}']],
  ['{"type":"data"}', [undefined]],
  ['{}', [undefined]],
  ['{"x":{"data":1},"y":["data",{"data":2}],"data":{"data":3}}', ['{"data":3}']],
  ['{"a":"}\\"],{\\\\","data":{"b":"\\\\\\"}"}}', ['{"b":"\\\\\\"}"}']],
  ['{"events":[{"data":{"a":1.50}},{"type":"x"} , { "data" : null }]}', ['{"a":1.50}', undefined, undefined]],
  ['{"events":[]}', []],
])('of %s are %j', (body, expected) => {
  expect(dataTexts(body.trim())).toEqual(expected);
});

test('are those of the parser, whatever is written', () => {
  const spaced = fc.constantFrom<number | string | undefined>(undefined, 1, '\t', ' \n\r');
  fc.assert(
    fc.property(
      fc.array(fc.record({ data: fc.jsonValue(), more: fc.jsonValue() }, { requiredKeys: [] })),
      spaced,
      (events, space) => {
        const write = (value: unknown) => JSON.stringify(value, undefined, space);
        const read = (text: string | undefined) => text && (JSON.parse(text) as unknown);
        expect(dataTexts(write({ first: 1, events })).map(read)).toEqual(
          events.map(({ data }) =>
            (data ?? undefined) === undefined ? undefined : JSON.parse(JSON.stringify(data)),
          ),
        );
        for (const event of events) expect(dataTexts(write(event))).toHaveLength(1);
      },
    ),
  );
});
