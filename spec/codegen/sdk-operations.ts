/** What the client has to know of an operation to call it and to type its answer. */
import {
  refName,
  resolve,
  type Operation,
  type Response,
  type Schema,
  type ServiceContract,
} from './contract.ts';
import { typeText } from './source.ts';

const json = 'application/json';

/** The entry of an operation in the client's table; only what differs from the simplest call is said. */
export function entryText(service: ServiceContract, operation: Operation): string {
  const { verb, path, parameters, body, access, events } = operation;
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  const pages = pagesOf(service, operation);
  return JSON.stringify({
    verb,
    path,
    ...(headers.length > 0 && { headers }),
    ...(body && { body: Object.keys(body.content)[0] }),
    ...(access === 'read' && verb === 'POST' && { read: true }),
    ...(pages && { pages }),
    ...(isUnread(operation) && { unread: true }),
    ...(events && { events: eventKinds(service, events) }),
  });
}

function eventKinds(service: ServiceContract, events: Record<string, Schema>) {
  const kinds = Object.entries(events).map(([name, schema]) => {
    return [name, resolve(service.schemas, schema).type === 'string' ? 'text' : 'json'];
  });
  return Object.fromEntries(kinds) as Record<string, string>;
}

/** How the pages of a list follow each other; undefined for what is not a list in pages. */
export function pagesOf(service: ServiceContract, operation: Operation): 'cursor' | 'offset' | undefined {
  if (operation.verb !== 'GET' || itemType(service, operation) === undefined) return undefined;
  const names = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  return (['cursor', 'offset'] as const).find((name) => names.includes(name));
}

/** The type of the items of an answer that is an array. */
export function itemType(service: ServiceContract, operation: Operation): string | undefined {
  const schema = successes(operation)[0]?.schema;
  const { type, items } = schema ? resolve(service.schemas, schema) : {};
  return type === 'array' ? typeText(items ?? {}) : undefined;
}

/** Whether the answer is handed on as it comes: a file, a page, a redirect. */
export const isUnread = (operation: Operation): boolean =>
  operation.events === null &&
  successes(operation).some(
    ({ status, contentType }) => status >= 300 || (contentType !== null && contentType !== json),
  );

export const successes = (operation: Operation): Response[] =>
  operation.responses.filter((response) => response.status < 400);

/** The types of the error bodies; those that are shaped as the service's envelope are all called `Error`. */
export function failureTypes(service: ServiceContract, operation: Operation): string[] {
  const envelope = shape(service, { $ref: '#/components/schemas/Error' });
  const names = operation.responses
    .filter((response) => response.status >= 400)
    .flatMap(({ schema }) =>
      schema ? [shape(service, schema) === envelope ? 'T.Error' : typeText(schema)] : [],
    );
  return names.length === 0 ? ['unknown'] : [...new Set(names)].sort();
}

/** What a schema allows, without the words about it. */
export function shape({ schemas }: ServiceContract, schema: Schema): string {
  const target = schema.$ref ? schemas[refName(schema.$ref)] : schema;
  return JSON.stringify(target, (key, value: unknown) =>
    ['description', 'examples'].includes(key) ? undefined : value,
  );
}
