/**
 * Writes `documented.json` from the documents on which the contract is based:
 * `node contract-tests/documented/extract.ts <folder of identity.md, commerce.md and platform.md>`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { DocumentedOperation, DocumentedService } from './facts.ts';
import { readFields, readShape, type Field, type Vocabulary } from './fields.ts';
import { sections, type Section } from './markdown.ts';
import { readings, type Reading } from './readings.ts';
import { endpoints, mentioned, type Endpoint } from './rows.ts';
import { resourceIn, vocabularyOf } from './vocabulary.ts';

function service(reading: Reading, markdown: string): DocumentedService {
  const own = sections(markdown).filter(({ letters }) => letters.includes(reading.letter));
  const chapter = (name: string) => own.filter((section) => section.chapter === name);
  const vocabulary = vocabularyOf(reading, chapter('Resources and their fields'));
  const tables = chapter('Endpoints');
  const lists = listShape(tables);
  const inTables = tables.some((section) => section.tables.length > 0);
  const operations = tables.flatMap((section) => {
    const base = section.heading.includes('(under `{base_url}`)') ? '' : reading.base;
    const rows = section.tables.flat().flatMap(endpoints);
    return (inTables ? rows : mentioned(section)).map((endpoint) =>
      operation(reading, vocabulary, base, lists, endpoint),
    );
  });
  return { ...errors(chapter('Errors')), operations };
}

/** Returns the text above the tables that applies to all lists: their query and their answer. */
function listShape(tables: readonly Section[]): { query: string; response: string } | undefined {
  const [, query = '', response = ''] =
    /Lists: query (.*?); response `(\{.*?\})`/.exec(tables.map(({ text }) => text).join('\n')) ?? [];
  return response ? { query, response } : undefined;
}

function operation(
  reading: Reading,
  vocabulary: Vocabulary,
  base: string,
  lists: ReturnType<typeof listShape>,
  endpoint: Endpoint,
): DocumentedOperation {
  const { method, path } = endpoint;
  const place = `${method} ${path}`;
  const isList =
    lists !== undefined && method === 'GET' && (isListed(endpoint) || reading.lists?.test(place) === true);
  const said = reading.requests?.[place]?.split('; ') ?? endpoint.request;
  const query = said.flatMap((clause) => (clause.startsWith('query ') ? readFields(clause, vocabulary) : []));
  if (isList) query.push(...readFields(lists.query.replaceAll(/\([^)]*\)/g, ''), vocabulary));
  const request = said.flatMap((clause) =>
    clause.startsWith('query ') ? [] : requestFields(clause, reading, vocabulary),
  );
  const answers = segments(reading.responses?.[place] ?? endpoint.response.join('; '));
  const success = answers.filter(({ status }) => status >= 200 && status < 400);
  const failures = answers.filter(({ status }) => status >= 400);
  const response = (
    success.length > 0 ? success : [{ status: 0, text: endpoint.response.join('; ') }]
  ).flatMap(({ status, text }) => responseFields(status, text, place, reading, vocabulary));
  if (isList) response.push(...readShape(lists.response, vocabulary));
  return {
    method,
    path: base + path.replaceAll(/:(\w+)/g, '{$1}').replace(/\*(\w+)$/, '{+$1}'),
    query: names(query),
    headers: [...endpoint.header.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
    request: names(request),
    required: names([...query, ...request].filter(({ required }) => required)),
    response: names(response),
    success: statuses(success),
    errors: statuses(failures),
    codes: failures.flatMap(({ status, text }) =>
      [...text.matchAll(/`([a-z_]+)`/g)].map(([, code]) => `${status} ${code}`),
    ),
  };
}

const isListed = ({ request, response }: Endpoint): boolean =>
  request.includes('query list') || response.some((clause) => clause.includes('paginated'));

function requestFields(clause: string, reading: Reading, vocabulary: Vocabulary): readonly Field[] {
  const name = clause
    .toLowerCase()
    .replaceAll(/ \([^)]*\)/g, '')
    .replace(/ fields$/, '');
  const resource = name.replace(/ input$/, '');
  const fields = vocabulary.resource(name) ?? vocabulary.resource(resource);
  // Members that occur only in answers are not part of requests.
  const answered = (field: Field) => /(^|\.)display$/.test(field.path);
  if (!fields) return readFields(clause, vocabulary).filter((field) => !answered(field));
  return fields.filter(({ path }) => !reading.readOnly?.[resource]?.includes(path));
}

/** Returns the text after each status: `200 Plan`, `400 invalid_input`. */
function segments(text: string): { status: number; text: string }[] {
  const plain = text.replaceAll(/(?<=\d{3} )\(`[^)]*\)/g, '');
  return [...plain.matchAll(/\b([2-5]\d\d)\b(.*?)(?=\b[2-5]\d\d\b|$)/g)].map(([, status, behind = '']) => ({
    status: Number(status),
    text: behind.trim().replace(/;$/, ''),
  }));
}

function responseFields(
  status: number,
  text: string,
  place: string,
  reading: Reading,
  vocabulary: Vocabulary,
): Field[] {
  const [first = ''] = text.split(';');
  if (status === 204) return [];
  const bare = /^(array|paginated|with .*|updated entry|new job|\(.*\))?$/.test(first.trim());
  const [, known] = (bare && status !== 0 && reading.answers?.find(([at]) => at.test(place))) || [];
  const resource = known === undefined ? resourceIn(first, vocabulary) : vocabulary.resource(known);
  const prefix = first.startsWith('paginated') ? 'data.' : '';
  const whole = (resource ?? []).map((field) => ({ ...field, path: prefix + field.path }));
  return [...whole, ...readFields(status === 0 ? '' : text.replaceAll(/^\([^)]*\)/g, ''), vocabulary)];
}

function errors(chapter: readonly Section[]): Pick<DocumentedService, 'errors' | 'codes' | 'envelope'> {
  const text = chapter.map((section) => section.text).join('\n');
  const rows = chapter.flatMap(({ tables }) => tables.flat());
  const [, shape] = /Envelope:? `(\{.*?\})`/.exec(text) ?? [];
  const found = [...text.matchAll(/(?:^\| |[.;,] )([45]\d\d)\b/gm)].map(([, status]) => Number(status));
  const vocabulary: Vocabulary = { resource: () => undefined, objects: [], members: {} };
  const envelope = shape?.replaceAll(/<[^>]*>/g, 'string');
  return {
    errors: [...new Set(found)].sort(),
    codes: rows.flatMap(({ HTTP: status, '`code`': code }) =>
      code === undefined ? [] : [`${status} ${code.replaceAll('`', '')}`],
    ),
    envelope: envelope === undefined ? [] : names(readShape(envelope, vocabulary)),
  };
}

const names = (fields: readonly Field[]): string[] => [...new Set(fields.map(({ path }) => path))];
const statuses = (answers: readonly { status: number }[]): number[] =>
  [...new Set(answers.map(({ status }) => status))].sort();

const [folder] = process.argv.slice(2);
if (folder === undefined)
  throw new Error('usage: node contract-tests/documented/extract.ts <folder of documents>');
const file = new URL('../documented.json', import.meta.url);
const facts = Object.fromEntries(
  readings.map((reading) => [
    reading.service,
    service(reading, readFileSync(join(folder, `${reading.document}.md`), 'utf8')),
  ]),
);
const options = { ...(await resolveConfig(file)), parser: 'json' };
writeFileSync(file, await format(JSON.stringify(facts), options));
