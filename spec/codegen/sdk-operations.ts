/** The properties of an operation that the client needs to call it and to type its answer. */
import {
  refName,
  resolve,
  successes,
  type Operation,
  type Parameter,
  type Schema,
  type ServiceContract,
} from './contract.ts';
import { listOf } from './sdk-lists.ts';
import { typeText } from './source.ts';

const json = 'application/json';

/** Returns an operation's entry in the client's table. The entry contains only what differs from the simplest call. */
export function entryText(service: ServiceContract, operation: Operation): string {
  const { verb, path, access, events, prefixedHeaders } = operation;
  const parameters = clientParameters(operation);
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  const joined = parameters.filter((parameter) => isJoined(service, parameter)).map(({ name }) => name);
  const body = bodyType(operation);
  return JSON.stringify({
    verb,
    path,
    ...(headers.length > 0 && { headers }),
    ...(joined.length > 0 && { joined }),
    ...(prefixedHeaders && { prefixed: { [prefixedHeaders.member]: prefixedHeaders.prefix } }),
    ...(body && { body }),
    ...(access === 'read' && verb === 'POST' && { read: true }),
    ...(operation.repeatable && { creates: true }),
    ...(!isUnread(operation) && emptyOf(operation)),
    ...listOf(service, operation),
    ...(isUnread(operation) && { unread: true }),
    ...(events && { events: eventKinds(service, events) }),
    ...(recordOf(operation) && { recorded: true }),
  });
}

/** Returns the success statuses without a body. Any other success must have JSON. */
function emptyOf(operation: Operation): { empty?: number[] } {
  const empty = successes(operation).filter(({ content }) => content.length === 0);
  return empty.length === 0 ? {} : { empty: empty.map(({ status }) => status) };
}

/** Returns the parameters of a method, without the idempotency key, which is an option of every call and needs no second name. */
export const clientParameters = ({ parameters }: Operation): Parameter[] =>
  parameters.filter((parameter) => parameter.in !== 'header' || parameter.name !== 'Idempotency-Key');

/** Whether the values of an array are sent as one value, separated by commas. */
const isJoined = ({ schemas }: ServiceContract, { explode, schema, ...parameter }: Parameter) =>
  parameter.in === 'query' && explode === false && resolve(schemas, schema).type === 'array';

/**
 * Returns the content type of the request: the first documented one. If any type is allowed, it means bytes until the caller
 * names a type.
 */
export function bodyType({ body }: Operation): string | undefined {
  const type = body && Object.keys(body.content)[0];
  return type === '*/*' ? 'application/octet-stream' : (type ?? undefined);
}

/** Whether the client encodes the body from members. Otherwise the caller passes the bytes. */
export const isStructured = (operation: Operation): boolean =>
  /[/+]json$|\/x-www-form-urlencoded$/.test(bodyType(operation) ?? '');

/** Whether a request is answered as a call. A request that turns into a WebSocket is not. */
export const isCall = (operation: Operation): boolean =>
  !successes(operation).some(({ status }) => status === 101);

function eventKinds(service: ServiceContract, events: Record<string, Schema>) {
  const kinds = Object.entries(events).map(([name, schema]) => {
    return [name, resolve(service.schemas, schema).type === 'string' ? 'text' : 'json'];
  });
  return Object.fromEntries(kinds) as Record<string, string>;
}

/** Returns the schema of the events so far, which an event operation answers as JSON on request. */
export const recordOf = ({ events, responses }: Operation): Schema | undefined =>
  events === null
    ? undefined
    : responses.find(({ status }) => status === 200)?.content.find(({ contentType }) => contentType === json)
        ?.schema;

/** Whether the answer is passed on unread: only headers, a file, a page, or a redirect. */
export const isUnread = (operation: Operation): boolean =>
  operation.events === null &&
  (operation.verb === 'HEAD' ||
    successes(operation).some(
      ({ status, content }) =>
        (status >= 300 && status !== 304) || content.some(({ contentType }) => contentType !== json),
    ));

/** Returns the types of the error bodies. Those in the form of the service's envelope are all called `Error`. */
export function failureTypes(service: ServiceContract, operation: Operation): string[] {
  const envelope = shape(service, { $ref: '#/components/schemas/Error' });
  const names = operation.responses
    .filter((response) => response.status >= 400)
    .flatMap(({ content }) =>
      content.map(({ schema }) => (shape(service, schema) === envelope ? 'T.Error' : typeText(schema))),
    );
  return names.length === 0 ? ['unknown'] : [...new Set(names)].sort();
}

/** Returns what a schema allows, without descriptions and examples. */
export function shape({ schemas }: ServiceContract, schema: Schema): string {
  const target = schema.$ref ? schemas[refName(schema.$ref)] : schema;
  return JSON.stringify(target, (key, value: unknown) =>
    ['description', 'examples'].includes(key) ? undefined : value,
  );
}
