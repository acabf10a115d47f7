/**
 * Converts a document to the single form that the comparison reads: references to anything but schemas are resolved, members of
 * a path are copied to each of its operations, and boolean schemas become objects.
 */
import type { Document } from './document.ts';

type Json = Readonly<Record<string, unknown>>;

const verbs = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

export function normal(document: Document): Document {
  const whole = document as unknown as Json;
  const paths = Object.entries(asObject(whole['paths'])).map(([path, item]) => [
    path,
    ofPath(whole, asObject(follow(whole, item))),
  ]);
  const components = asObject(whole['components']);
  const schemas = Object.entries(asObject(components['schemas'])).map(([name, one]) => [name, schema(one)]);
  return {
    ...whole,
    paths: Object.fromEntries(paths) as unknown,
    components: { ...components, schemas: Object.fromEntries(schemas) as unknown },
  } as unknown as Document;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const asObject = (value: unknown): Json => (isObject(value) ? value : {});
const mapped = (value: unknown, change: (one: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(asObject(value)).map(([name, one]) => [name, change(one)]));

function follow(document: Json, node: unknown): unknown {
  const reference = asObject(node)['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return node;
  const names = reference.slice(2).split('/');
  const found = names.reduce<unknown>((at, name) => asObject(at)[unescaped(name)], document);
  if (found === undefined) throw new Error(`${reference} is not in the document`);
  return follow(document, found);
}

const unescaped = (name: string): string =>
  decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');

function ofPath(document: Json, item: Json): Json {
  const shared = (item['parameters'] as unknown[] | undefined) ?? [];
  const servers = item['servers'] ?? document['servers'];
  const operations = Object.entries(item).filter(([verb]) => verbs.has(verb));
  return Object.fromEntries(
    operations.map(([verb, operation]) => [
      verb,
      ofOperation(document, asObject(operation), shared, servers),
    ]),
  );
}

function ofOperation(document: Json, operation: Json, shared: readonly unknown[], servers: unknown): Json {
  const own = ((operation['parameters'] as unknown[] | undefined) ?? []).map((one) =>
    parameter(document, one),
  );
  const key = ({ in: where, name }: Json) => `${String(where)} ${String(name)}`;
  const inherited = shared
    .map((one) => parameter(document, one))
    .filter((one) => !own.some((other) => key(other) === key(one)));
  const body = asObject(follow(document, operation['requestBody']));
  return {
    ...operation,
    servers: operation['servers'] ?? servers,
    parameters: [...inherited, ...own],
    ...('requestBody' in operation && { requestBody: { ...body, content: mapped(body['content'], media) } }),
    responses: mapped(operation['responses'], (one) => answer(document, asObject(follow(document, one)))),
    ...('x-events' in operation && { 'x-events': mapped(operation['x-events'], schema) }),
    ...('x-messages' in operation && { 'x-messages': mapped(operation['x-messages'], schema) }),
  };
}

const media = (one: unknown): Json => ({ ...asObject(one), schema: schema(asObject(one)['schema'] ?? {}) });

/** A parameter or header with its own content type is compared by the schema of that content. */
function parameter(document: Json, given: unknown): Json {
  const one = asObject(follow(document, given));
  const [content] = Object.values(asObject(one['content']));
  return { ...one, schema: schema(one['schema'] ?? asObject(content)['schema'] ?? {}) };
}

const answer = (document: Json, one: Json): Json => ({
  ...one,
  headers: mapped(one['headers'], (header) => parameter(document, header)),
  content: mapped(one['content'], media),
});

/** Keywords whose value is a schema, a list of schemas, or a map of schemas by name. */
const single = new Set(
  (
    'items contains not if then else propertyNames unevaluatedItems unevaluatedProperties additionalProperties ' +
    'contentSchema'
  ).split(' '),
);
const several = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const named = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs']);

/** Keywords beside which unevaluated means more than without a name or an index of its own. */
const evaluating = ['$ref', 'anyOf', 'oneOf', 'allOf', 'if', 'dependentSchemas', '$dynamicRef'];

/** Uses one keyword for unnamed members, and one for the remaining items, where the keywords mean the same. */
function spelling(node: Json): Json {
  const { additionalProperties, unevaluatedProperties, unevaluatedItems, ...rest } = node;
  const isSimple = !evaluating.some((keyword) => keyword in node);
  // Additional members count as evaluated by `additionalProperties`.
  const open = additionalProperties ?? unevaluatedProperties;
  const seal =
    isSimple || additionalProperties === undefined ? 'unevaluatedProperties' : 'additionalProperties';
  const tail = isSimple && !('contains' in node) ? 'items' : 'unevaluatedItems';
  return {
    ...rest,
    ...(open !== undefined && { [seal]: open }),
    ...(unevaluatedItems !== undefined && !('items' in node) && { [tail]: unevaluatedItems }),
  };
}

function schema(node: unknown): unknown {
  if (node === true) return {};
  if (node === false) return { not: {} };
  if (!isObject(node)) return node;
  const spelt = spelling(node);
  return Object.fromEntries(
    Object.entries(spelt).map(([keyword, value]) => {
      if (single.has(keyword)) return [keyword, schema(value)];
      if (several.has(keyword)) return [keyword, (value as unknown[]).map(schema)];
      return [keyword, named.has(keyword) ? mapped(value, schema) : value];
    }),
  );
}
