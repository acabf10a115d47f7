import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Operation, ServiceName } from '../generated/operations.ts';
import { documented, documentOf, nameOf } from './contract.ts';

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
    const wrong =
      value !== null &&
      judge(operation.service, `${placeOf(operation, status)}/headers/${header}/schema`, value, 'header');
    if (wrong) found.push(`${name}: ${header} ${wrong}`);
  }
  return [...found, ...(await bodyBreaches(operation, response, Object.keys(promised.content ?? {})))];
}

/** Where the document describes a response. */
function placeOf(operation: Operation, status: number): string {
  const { path, verb } = documented(operation);
  return `paths/${escape(path)}/${verb}/responses/${status}`;
}

async function bodyBreaches(
  operation: Operation,
  response: Response,
  types: readonly string[],
): Promise<string[]> {
  const name = `${nameOf(operation)} ${response.status}`;
  const type = response.headers.get('content-type');
  // What a HEAD would have answered is in its headers.
  if (operation.verb === 'HEAD') return [];
  if (types.length === 0) {
    const text = await response.clone().text();
    return text === '' && type === null ? [] : [`${name}: has a body, ${type}`];
  }
  if (type === null || !types.includes(type))
    return [`${name}: content type ${type}, not ${types.join(' or ')}`];
  // Other bodies may never end, and say nothing that a schema could judge.
  if (type !== 'application/json') return [];
  const text = await response.clone().text();
  const wrong = judge(
    operation.service,
    `${placeOf(operation, response.status)}/content/${escape(type)}/schema`,
    JSON.parse(text),
    'body',
  );
  return wrong ? [`${name}: body${wrong}: ${text.slice(0, 500)}`] : [];
}

/** What is wrong with an event of a stream, as the SDK hands it out. */
export function eventBreaches(operation: Operation, { event, data }: ServerEvent): string[] {
  const schema = documented(operation).entry['x-events']?.[event];
  if (!schema) return [`${nameOf(operation)}: the event ${event} is not documented`];
  const { path, verb } = documented(operation);
  const wrong = judge(
    operation.service,
    `paths/${escape(path)}/${verb}/x-events/${escape(event)}`,
    data,
    'body',
  );
  return wrong ? [`${nameOf(operation)}: ${event} data${wrong}`] : [];
}

export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

const judges = new Map<string, ValidateFunction>();
const ajvs = { body: new Map<ServiceName, Ajv2020>(), header: new Map<ServiceName, Ajv2020>() };

/** What the schema at `place` of a document says against the value; header values are text and are read as what they should be. */
function judge(
  service: ServiceName,
  place: string,
  value: unknown,
  kind: 'body' | 'header',
): string | undefined {
  const $ref = `plinth:${service}#/${encodeURI(place)}`;
  let validate = judges.get($ref);
  if (!validate) {
    validate = ajvOf(service, kind).compile({ $ref });
    judges.set($ref, validate);
  }
  if (validate(value)) return undefined;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}`;
}

function ajvOf(service: ServiceName, kind: 'body' | 'header'): Ajv2020 {
  let ajv = ajvs[kind].get(service);
  if (!ajv) {
    ajv = new Ajv2020({ strict: false, coerceTypes: kind === 'header' });
    addFormats.default(ajv);
    ajv.addSchema({ $id: `plinth:${service}`, ...documentOf(service) });
    ajvs[kind].set(service, ajv);
  }
  return ajv;
}

const escape = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1');
