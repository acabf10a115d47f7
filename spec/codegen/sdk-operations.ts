/** What the client has to know of an operation to call it and to type its answer. */
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

/** The entry of an operation in the client's table; only what differs from the simplest call is said. */
export function entryText(service: ServiceContract, operation: Operation): string {
  const { verb, path, access, events } = operation;
  const parameters = clientParameters(operation);
  const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  const joined = parameters.filter((parameter) => isJoined(service, parameter)).map(({ name }) => name);
  const body = bodyType(operation);
  return JSON.stringify({
    verb,
    path,
    ...(headers.length > 0 && { headers }),
    ...(joined.length > 0 && { joined }),
    ...(body && { body }),
    ...(access === 'read' && verb === 'POST' && { read: true }),
    ...listOf(service, operation),
    ...(isUnread(operation) && { unread: true }),
    ...(events && { events: eventKinds(service, events) }),
    ...(recordOf(operation) && { recorded: true }),
  });
}

/** Headers that the options of a call give, under names that say what they mean. */
const optionHeaders = ['Idempotency-Key', 'X-Tenant-ID', 'X-App-ID', 'X-User-ID', 'X-Subject-ID'];

/** The parameters that a method takes; one thing has one name, so what is an option is not a parameter too. */
export const clientParameters = ({ parameters }: Operation): Parameter[] =>
  parameters.filter((parameter) => parameter.in !== 'header' || !optionHeaders.includes(parameter.name));

/** Whether the values of an array travel in one, with commas between them. */
const isJoined = ({ schemas }: ServiceContract, { explode, schema, ...parameter }: Parameter) =>
  parameter.in === 'query' && explode === false && resolve(schemas, schema).type === 'array';

/** The content type of the request: the first that is documented. Any at all means bytes, until the caller says what. */
export function bodyType({ body }: Operation): string | undefined {
  const type = body && Object.keys(body.content)[0];
  return type === '*/*' ? 'application/octet-stream' : (type ?? undefined);
}

/** Whether the body is written by the client from members; otherwise the caller gives the bytes. */
export const isStructured = (operation: Operation): boolean =>
  /[/+]json$|\/x-www-form-urlencoded$/.test(bodyType(operation) ?? '');

/** Requests that turn into a WebSocket are no calls that are answered. */
export const isCall = (operation: Operation): boolean =>
  !successes(operation).some(({ status }) => status === 101);

function eventKinds(service: ServiceContract, events: Record<string, Schema>) {
  const kinds = Object.entries(events).map(([name, schema]) => {
    return [name, resolve(service.schemas, schema).type === 'string' ? 'text' : 'json'];
  });
  return Object.fromEntries(kinds) as Record<string, string>;
}

/** What an operation of events answers as JSON where that is asked for: the events so far. */
export const recordOf = ({ events, responses }: Operation): Schema | undefined =>
  events === null
    ? undefined
    : responses.find(({ status }) => status === 200)?.content.find(({ contentType }) => contentType === json)
        ?.schema;

/** Whether the answer is handed on as it comes: headers alone, a file, a page, a redirect. */
export const isUnread = (operation: Operation): boolean =>
  operation.events === null &&
  (operation.verb === 'HEAD' ||
    successes(operation).some(
      ({ status, content }) =>
        (status >= 300 && status !== 304) || content.some(({ contentType }) => contentType !== json),
    ));

/** The types of the error bodies; those that are shaped as the service's envelope are all called `Error`. */
export function failureTypes(service: ServiceContract, operation: Operation): string[] {
  const envelope = shape(service, { $ref: '#/components/schemas/Error' });
  const names = operation.responses
    .filter((response) => response.status >= 400)
    .flatMap(({ content }) =>
      content.map(({ schema }) => (shape(service, schema) === envelope ? 'T.Error' : typeText(schema))),
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
