import fc from 'fast-check';
import { expect, test } from 'vitest';
import { S3Error } from './errors.ts';
import { childrenOf, readXml, textOf } from './xml-reader.ts';
import { document, element, elements } from './xml.ts';

const codeOf = async (text: string | Buffer): Promise<string> => {
  try {
    await readXml(Buffer.from(text as string), 'A');
    return 'fine';
  } catch (error) {
    return error instanceof S3Error ? error.code : String(error);
  }
};

test('a document is what its elements say, and absent texts are left out', () => {
  const text = document('List', [
    elements({ Name: 'a<b', Count: 2, Done: false, Next: undefined }),
    [element('Key', '&"\'\r')],
  ]);
  expect(text).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n<List xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>a&lt;b</Name><Count>2</Count><Done>false</Done><Key>&amp;&quot;&apos;&#13;</Key></List>',
  );
});

test('any text is read as it was written', async () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { maxLength: 5 }), async (all) => {
      const root = await readXml(
        Buffer.from(
          document(
            'A',
            all.map((text) => element('Key', text)),
          ),
        ),
        'A',
      );
      expect(childrenOf(root, 'Key').map(({ text }) => text)).toEqual(all);
    }),
  );
});

test('prefixes, comments and CDATA are understood', async () => {
  const root = await readXml(
    Buffer.from(
      '<?xml version="1.0"?><!-- c --><s:A xmlns:s="x"><s:Key><![CDATA[<a>]]>&amp;&#x41;</s:Key></s:A>\n',
    ),
    'A',
  );
  expect(textOf(root, 'Key')).toBe('<a>&A');
  expect(textOf(root, 'Other')).toBeUndefined();
});

test.each<[string, string | Buffer]>([
  ['nothing', ''],
  ['another root', '<B/>'],
  ['two roots', '<A/><A/>'],
  ['an open element', '<A><B></A>'],
  ['a document type', '<!DOCTYPE A><A/>'],
  ['entities that grow', '<!DOCTYPE A [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;">]><A>&b;</A>'],
  ['a foreign file', '<!DOCTYPE A [<!ENTITY a SYSTEM "file:///etc/passwd">]><A>&a;</A>'],
  ['an unknown entity', '<A>&a;</A>'],
  ['a character that XML excludes', '<A>&#1;</A>'],
  ['broken UTF-8', Buffer.from([0x3c, 0x41, 0x3e, 0xff, 0x3c, 0x2f, 0x41, 0x3e])],
  ['deep nesting', `${'<A>'.repeat(50_000)}`],
  ['too many elements', `<A>${'<B/>'.repeat(100_001)}</A>`],
  ['too many attributes', `<A ${Array.from({ length: 20 }, (_, at) => `a${at}=""`).join(' ')}/>`],
  ['a text without an end', `<A>${'x'.repeat(5_000)}</A>`],
  ['JSON', '{"A": 1}'],
])('refuses %s', async (_what, text) => {
  expect(await codeOf(text)).toBe('MalformedXML');
});

test('a child that is given twice is refused where only one makes sense', async () => {
  const root = await readXml(Buffer.from('<A><B>1</B><B>2</B></A>'), 'A');
  expect(() => textOf(root, 'B')).toThrow('B is given more than once');
});
