import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Operation, ServiceName } from '../generated/operations.ts';
import { documented, documentOf, nameOf, type MediaType } from './contract.ts';

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
    const place = placeIn(operation, status, `headers/${header}/schema`);
    const wrong = value !== null && judge(operation, place, value, 'header');
    if (wrong) found.push(`${name}: ${header} ${wrong}`);
  }
  return [...found, ...(await bodyBreaches(operation, response, promised.content ?? {}))];
}

async function bodyBreaches(
  operation: Operation,
  response: Response,
  content: Readonly<Record<string, MediaType>>,
): Promise<string[]> {
  const types = Object.keys(content);
  const name = `${nameOf(operation)} ${response.status}`;
  const type = response.headers.get('content-type');
  if (types.length === 0) {
    const text = await response.clone().text();
    return text === '' && type === null ? [] : [`${name}: has a body, ${type}`];
  }
  if (type === null || !types.includes(type))
    return [`${name}: content type ${type}, not ${types.join(' or ')}`];
  // Other bodies may never end, and say nothing that a schema could judge.
  if (type !== 'application/json') return [];
  const text = await response.clone().text();
  // A named schema is compiled once, wherever it stands.
  const place =
    content[type]?.schema?.$ref?.slice('#/'.length) ??
    placeIn(operation, response.status, `content/${escape(type)}/schema`);
  const wrong = judge(operation, place, JSON.parse(text), 'body');
  return wrong ? [`${name}: body${wrong}: ${text.slice(0, 500)}`] : [];
}

const judges = new Map<string, ValidateFunction>();
const ajvs = { body: new Map<ServiceName, Ajv2020>(), header: new Map<ServiceName, Ajv2020>() };

function placeIn(operation: Operation, status: number, part: string): string {
  const { path, verb } = documented(operation);
  return `paths/${escape(path)}/${verb}/responses/${status}/${part}`;
}

/** What the schema at this place of the document says against the value; header values are text and are read as what they should be. */
function judge(
  operation: Operation,
  pointer: string,
  value: unknown,
  kind: 'body' | 'header',
): string | undefined {
  const key = `${kind} ${operation.service}#/${pointer}`;
  let validate = judges.get(key);
  if (!validate) {
    validate = ajvOf(operation.service, kind).compile({
      $ref: `plinth:${operation.service}#/${encodeURI(pointer)}`,
    });
    judges.set(key, validate);
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
