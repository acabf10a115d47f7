/** The documented answers, filled with the records of the request. */
import { type Resource } from '../contract/plans.ts';
import { withRecord } from '../contract/shapes.ts';
import { successOf } from '../contract/success.ts';
import { rangeOf } from './conditions.ts';
import { documents, failure, type Call, type Outcome } from './call.ts';
import { contentHeaders } from './contents.ts';
import type { StoredRecord } from './memory.ts';
import { isTypeId, substituted } from './records.ts';
import { textsOf, type Step } from './steps.ts';
import { versionOf } from './versions.ts';

/** A record that an answer has in place of the example's record. */
export type Told = readonly [resource: Resource, record: StoredRecord];

/** Returns the answer for the status with the records in it. */
export function answered(
  { document, operation }: Call,
  status: number,
  told: readonly Told[],
  steps: readonly Step[],
): Outcome {
  const { schema, example } = successOf(document, operation, status);
  const texts = [...textsOf(steps), ...told.flatMap(([resource, { values }]) => idOf(resource, values))];
  const body =
    schema &&
    told.reduce<unknown>(
      (found, [resource, { values }]) => withRecord(document, schema, found, resource, values),
      substituted(example, texts),
    );
  return { status, body, retold: retelling(texts, steps), headers: headersOf(told[0], texts) };
}

/** Answers with a record, or with the requested range of its content if it has one. */
export function read(call: Call, resource: Resource, record: StoredRecord, steps: readonly Step[]): Outcome {
  const { status } = successOf(call.document, call.operation);
  const whole = answered(call, status, [[resource, record]], steps);
  const { content } = record;
  if (!content) return whole;
  const { bytes, type } = content;
  const range = documents(call, 206) ? rangeOf(call.request, bytes.length, versionOf(record)) : undefined;
  if (range === 'unsatisfiable')
    return {
      ...failure(416),
      headers: (examples) => ({ ...examples, 'Content-Range': `bytes */${bytes.length}` }),
    };
  const headers = (examples: Readonly<Record<string, string>>) => ({
    ...contentHeaders(examples, content, record.values),
    ...savedAs(call.request['download']),
  });
  if (!range)
    return {
      status,
      content,
      headers: (examples) => ({ ...headers(examples), 'Content-Length': String(bytes.length) }),
    };
  const part = bytes.subarray(range.first, range.last + 1);
  return {
    status: 206,
    content: { bytes: part, type },
    headers: (examples) => ({
      ...headers(examples),
      'Content-Length': String(part.length),
      'Content-Range': `bytes ${range.first}-${range.last}/${bytes.length}`,
    }),
  };
}

/** The answer when a condition fails. */
export function refused(status: 304 | 412, record: StoredRecord | undefined): Outcome {
  const { content, values } = record ?? {};
  if (status === 412 || !content || !values) return failure(status);
  return { status, headers: (examples) => contentHeaders(examples, content, values) };
}

/** Returns the example of the operation, adapted to the records of the path. */
export function exampleFor({ document, operation }: Call, steps: readonly Step[]): Outcome | undefined {
  const { status, example } = successOf(document, operation);
  const texts = textsOf(steps);
  if (steps.length === 0) return undefined;
  return {
    status,
    ...(example === undefined ? {} : { body: substituted(example, texts) }),
    retold: retelling(texts, steps),
    headers: (headers) => substituted(headers, texts),
  };
}

/** Adapts a text to the records of the path: replaces ids, and names in members such as `agent_name`. */
function retelling(texts: readonly [string, string][], steps: readonly Step[]): (text: string) => string {
  const names = steps.flatMap(({ item, record }) =>
    item.keys
      .filter((key) => key !== 'id')
      .map((key) => [
        `_${key}":${JSON.stringify(item.resource.example[key])}`,
        `_${key}":${JSON.stringify(record.values[key])}`,
      ]),
  );
  return (text) =>
    [...texts, ...names].reduce((told, [from = '', to = '']) => told.replaceAll(from, to), text);
}

/** Adapts the example's headers: replaces values of the example's record by those of the actual record. */
function headersOf(told: Told | undefined, texts: readonly [string, string][]): Outcome['headers'] {
  if (!told) return (headers) => substituted(headers, texts);
  const [{ example }, { values }] = told;
  const figures = ['etag', 'checksum', 'size']
    .filter((name) => name in values && name in example)
    .map((name): [string, string] => [String(example[name]), String(values[name])]);
  const version = versionOf({ values }).etag;
  const modified = values['last_modified'];
  return (headers) => ({
    ...substituted(headers, [...texts, ...figures]),
    ...('ETag' in headers && version !== undefined ? { ETag: version } : {}),
    ...('Last-Modified' in headers && typeof modified === 'string'
      ? { 'Last-Modified': new Date(modified).toUTCString() }
      : {}),
  });
}

function idOf({ example }: Resource, values: StoredRecord['values']): [string, string][] {
  const [from, to] = [example['id'], values['id']];
  return isTypeId(from) && isTypeId(to) ? [[from, to]] : [];
}

/** Returns the header that tells a browser to save a content under a name. */
function savedAs(name: unknown): Record<string, string> {
  if (typeof name !== 'string') return {};
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const exact = plain === name ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`;
  return { 'Content-Disposition': `attachment; filename="${plain}"${exact}` };
}
