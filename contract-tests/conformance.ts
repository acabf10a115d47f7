import type { Operation } from '../generated/operations.ts';
import { documented, nameOf } from './contract.ts';
import { misfit, textMisfit, type Place } from './schemas.ts';

/** What is wrong with a response, as sentences: its status, content type, headers and body against the document. */
export async function breaches(operation: Operation, response: Response): Promise<string[]> {
  const { status, headers } = response;
  const name = `${nameOf(operation)} ${status}`;
  const promised = documented(operation).entry.responses[status];
  if (!promised) return [`${name}: the status is not documented: ${await response.clone().text()}`];
  const found: string[] = [];
  if (!headers.get('x-request-id')) found.push(`${name}: no X-Request-ID`);
  for (const [header, { required }] of Object.entries(promised.headers ?? {})) {
    const value = headers.get(header);
    if (value === null && required) found.push(`${name}: no ${header}`);
    const place = [...placeOf(operation, status), 'headers', header, 'schema'];
    const wrong = value === null ? undefined : textMisfit(operation.service, place, value);
    if (wrong) found.push(`${name}: ${header} ${wrong}`);
  }
  return [...found, ...(await bodyBreaches(operation, response, Object.keys(promised.content ?? {})))];
}

async function bodyBreaches(
  operation: Operation,
  response: Response,
  types: readonly string[],
): Promise<string[]> {
  // What a HEAD would have answered is in its headers.
  if (operation.verb === 'HEAD') return [];
  const name = `${nameOf(operation)} ${response.status}`;
  const type = response.headers.get('content-type');
  if (types.length === 0) {
    const text = await response.clone().text();
    return text === '' && type === null ? [] : [`${name}: has a body, ${type}`];
  }
  if (type === null || !(types.includes(type.replace(charset, '')) || types.includes('*/*')))
    return [`${name}: content type ${type}, not ${types.join(' or ')}`];
  // Other bodies may never end, and say nothing that a schema could judge.
  if (type !== 'application/json') return [];
  const text = await response.clone().text();
  const place = [...placeOf(operation, response.status), 'content', type, 'schema'];
  const wrong = misfit(operation.service, place, JSON.parse(text));
  return wrong ? [`${name}: body${wrong}: ${text.slice(0, 500)}`] : [];
}

/** Text may say how it is written; the document names its kind. */
const charset = /(?<=^text\/\w+); charset=utf-8$/;

export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** What is wrong with an event of a stream, as the SDK hands it out. */
export function eventBreaches(operation: Operation, { event, data }: ServerEvent): string[] {
  const { path, verb, entry } = documented(operation);
  if (!entry['x-events']?.[event]) return [`${nameOf(operation)}: the event ${event} is not documented`];
  const wrong = misfit(operation.service, ['paths', path, verb, 'x-events', event], data);
  return wrong ? [`${nameOf(operation)}: ${event} data${wrong}`] : [];
}

/** Where the document describes a response. */
function placeOf(operation: Operation, status: number): Place {
  const { path, verb } = documented(operation);
  return ['paths', path, verb, 'responses', String(status)];
}
