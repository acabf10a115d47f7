import { expect, test } from 'vitest';
import { arrayText, parseArray } from './arrays.ts';

test.each<[text: string, values: unknown[]]>([
  ['{}', []],
  ['{a}', ['a']],
  ['{a,NULL,null,"NULL",""}', ['a', null, 'null', 'NULL', '']],
  ['{"a b","c,d","{e}","\\"f\\"","\\\\g\\\\","\n"}', ['a b', 'c,d', '{e}', '"f"', '\\g\\', '\n']],
  [
    '{{1,2},{3,NULL}}',
    [
      ['1', '2'],
      ['3', null],
    ],
  ],
  ['{"ä","😀"}', ['ä', '😀']],
])('%s is read', (text, values) => {
  expect(parseArray(text, (element) => element)).toEqual(values);
  expect(parseArray(arrayText(values, String), (element) => element)).toEqual(values);
});

test('elements are read and written each', () => {
  expect(parseArray('{1,2.5,NULL}', Number)).toEqual([1, 2.5, null]);
  expect(arrayText([1, null, [2]], (value) => `<${String(value)}>`)).toBe('{"<1>",NULL,{"<2>"}}');
});

test('what is no array is taken as it is, and nothing undefined is stored', () => {
  expect(arrayText('{a}', String)).toBe('{a}');
  expect(() => arrayText(['a', undefined], String)).toThrow(TypeError);
});
