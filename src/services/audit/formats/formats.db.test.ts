/** Tests that the files of a report show hostile text as text: real parsers read them back. */
import { parse as parseCsv } from 'csv-parse/sync';
import { micromark } from 'micromark';
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table';
import { type DefaultTreeAdapterMap, parse as parseHtml } from 'parse5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../../../generated/audit/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { day, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let report: Report;
const files = new Map<string, string>();

const own = inTenant('formats');
const hostile = [
  ...[
    '=cmd|" /C calc"!A0',
    '+1+1',
    '-1+1',
    '@SUM(1)',
    '\t=1',
    '\r=1',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '=1\n=2',
    'a,"b"\r\nc',
  ],
  ...[
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onload='x",
    '&lt;b&gt; &amp;',
    '</td></table>',
  ],
  ...[
    'a|b',
    '[click](javascript:alert(1))',
    '![x](http://evil.example/x.png)',
    '`code`',
    '**bold** _it_',
    '# head\n- x',
  ],
  ...['<!-- x -->', '~~gone~~', '\\|', '<http://evil.example>', '| a | b |\n|---|---|'],
];

beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
  await api.batch(
    hostile.map((text) => ({ timestamp: day(2), reason: text, resource_id: text, user_id: text })),
    own,
  );
  const body = {
    title: '<b>=Title|[x](y)</b>',
    period: { from: day(3).slice(0, 10), to: day(1).slice(0, 10) },
  };
  report = await api.send('POST', '/reports/custom', { ...own, body });
});
afterAll(() => server.close());

const expectedTypes = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

it.each(Object.entries(expectedTypes))(
  'the file %s says what it is and runs nothing',
  async (format, type) => {
    const response = await server.request('GET', `/audit/v1/reports/${report.id}/export/${format}`, own);
    files.set(format, response.text);
    expect(response.status).toBe(200);
    const header = (name: string) => response.headers.get(name);
    expect(header('content-type')).toBe(type);
    expect(header('content-disposition')).toBe(`attachment; filename="${report.id}.${format}"`);
    expect(header('x-content-type-options')).toBe('nosniff');
    expect(header('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'");
  },
);

const shown = () => report.sections[0]!.events;
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

describe('hostile text', () => {
  it('is data in JSON', () => expect(JSON.parse(files.get('json')!)).toEqual(report));

  it('is never the formula of a spreadsheet, and else as it was', () => {
    const [head, ...rows] = parseCsv(files.get('csv')!, { record_delimiter: '\r\n' }) as string[][];
    expect(head!.join()).toBe(
      'section,sequence,timestamp,action,resource,resource_id,category,outcome,severity,user_id,ip,reason',
    );
    expect(rows).toHaveLength(hostile.length);
    rows.forEach((row, at) => {
      const { reason, sequence } = shown()[at]!;
      expect([row[0], row[1]]).toEqual(['All events', String(sequence)]);
      const cell = row.at(-1)!;
      expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
      expect(/^[=+\-@\t\r\n＝＋－＠]/.test(reason!) ? `'${reason}` : reason).toBe(cell);
    });
  });

  it('is text in HTML', () => {
    const { elements, rows } = inspect(files.get('html')!);
    const allowed = 'html head meta title style body h1 h2 p table thead tbody tr th td svg rect'.split(' ');
    expect([...elements].filter((name) => !allowed.includes(name))).toEqual([]);
    const events = rows.filter((row) => row.length === 11);
    expect(events.slice(1).map((row) => row.at(-1))).toEqual(
      shown().map(({ reason }) => reason!.replaceAll(/\r\n?/g, '\n')),
    );
    expect(files.get('html')).not.toContain('<script');
  });

  it('is text in Markdown, in its cell', () => {
    const html = micromark(files.get('markdown')!, {
      ...{ extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()], allowDangerousHtml: true },
    });
    const { elements, rows } = inspect(html);
    const allowed = 'html head body h1 h2 p table thead tbody tr th td'.split(' ');
    expect([...elements].filter((name) => !allowed.includes(name))).toEqual([]);
    const events = rows.filter((row) => row.length === 11);
    expect(events.slice(1).map((row) => oneLine(row.at(-1)!))).toEqual(
      shown().map(({ reason }) => oneLine(reason!)),
    );
  });
});

type Node = DefaultTreeAdapterMap['node'];

/** The names of all elements of a page, and the texts of the cells of all rows. */
function inspect(html: string): { elements: Set<string>; rows: string[][] } {
  const elements = new Set<string>();
  const rows: string[][] = [];
  const textOf = (node: Node): string =>
    'value' in node ? node.value : 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
  const visit = (node: Node): void => {
    if ('tagName' in node) {
      elements.add(node.tagName);
      for (const { name } of node.attrs) expect(name).not.toMatch(/^on|^href$|^src$/);
      if (node.tagName === 'tr') rows.push(node.childNodes.filter((cell) => 'tagName' in cell).map(textOf));
    }
    if ('childNodes' in node) node.childNodes.forEach(visit);
  };
  visit(parseHtml(html));
  return { elements, rows };
}
