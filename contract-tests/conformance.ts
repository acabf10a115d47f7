import type { Operation } from '../generated/operations.ts';
import { documented, nameOf } from './contract.ts';
import { misfit, textMisfit, type Place } from './schemas.ts';

/** Returns what is wrong with a response, as sentences: compares its status, content type, headers and body with the document. */
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
  // The answer to a HEAD request has only headers.
  if (operation.verb === 'HEAD') return [];
  const name = `${nameOf(operation)} ${response.status}`;
  const type = response.headers.get('content-type');
  if (types.length === 0) {
    const text = await response.clone().text();
    return text === '' && type === null ? [] : [`${name}: has a body, ${type}`];
  }
  if (type === null || !(types.includes(type.replace(charset, '')) || types.includes('*/*')))
    return [`${name}: content type ${type}, not ${types.join(' or ')}`];
  // Other bodies may never end, and no schema describes them.
  if (type !== 'application/json') return [];
  const text = await response.clone().text();
  const place = [...placeOf(operation, response.status), 'content', type, 'schema'];
  const wrong = misfit(operation.service, place, JSON.parse(text));
  return wrong ? [`${name}: body${wrong}: ${text.slice(0, 500)}`] : [];
}

/** A text type may include its charset; the document names only the type. */
const charset = /(?<=^text\/\w+); charset=utf-8$/;

export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Returns what is wrong with an event of a stream, as the SDK delivers it. */
export function eventBreaches(operation: Operation, { event, data }: ServerEvent): string[] {
  const { path, verb, entry } = documented(operation);
  if (!entry['x-events']?.[event]) return [`${nameOf(operation)}: the event ${event} is not documented`];
  const wrong = misfit(operation.service, ['paths', path, verb, 'x-events', event], data);
  return wrong ? [`${nameOf(operation)}: ${event} data${wrong}`] : [];
}

/** Returns the place of a response in the document. */
function placeOf(operation: Operation, status: number): Place {
  const { path, verb } = documented(operation);
  return ['paths', path, verb, 'responses', String(status)];
}
