/** Calls with realistic values from the contract's examples, for doc comments and the README. */
import { resolve, type Operation, type Schema, type ServiceContract } from './contract.ts';
import { clientParameters, isStructured } from './sdk-operations.ts';
import { lowerFirst, memberName } from './source.ts';

/** Formats a call with required members only: `plinth.authz.roles.create({ body: { name: 'Editor' } })`. */
export function callText(service: ServiceContract, operation: Operation): string {
  const members = clientParameters(operation)
    .filter((parameter) => parameter.required)
    .map(({ name, schema }) => `${memberName(name)}: ${literal(exampleOf(service, schema))}`);
  const body = bodyExample(service, operation);
  const request = [...members, ...(body === undefined ? [] : [`body: ${body}`])].join(', ');
  const method = `plinth.${service.name}.${lowerFirst(operation.resource)}.${operation.method}`;
  return request === '' ? `${method}()` : `${method}({ ${request} })`;
}

/** Returns the body's example as TypeScript, or undefined when it has nothing worth showing. */
function bodyExample(service: ServiceContract, operation: Operation): string | undefined {
  const [media] = Object.values(operation.body?.content ?? {});
  if (!operation.body || !media) return undefined;
  if (!isStructured(operation)) return "new Blob(['Hello'], { type: 'text/plain' })";
  const text = literal(exampleOf(service, media.schema));
  return text === '{}' && !operation.body.required ? undefined : text;
}

/** Returns a value that the schema allows, as short as possible. */
export function exampleOf(service: ServiceContract, schema: Schema): unknown {
  const given = schema.examples?.[0];
  if (schema.$ref && given === undefined) return exampleOf(service, resolveOnce(service, schema.$ref));
  if (given !== undefined) return shortened(schema, given);
  const variant = (schema.anyOf ?? schema.oneOf)?.[0];
  if (variant) return exampleOf(service, variant);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.type === 'array') return [exampleOf(service, schema.items ?? {})];
  if (schema.type === 'integer' || schema.type === 'number') return 1;
  if (schema.type === 'boolean') return true;
  return schema.type === 'string' ? 'text' : objectExample(service, schema);
}

const resolveOnce = (service: ServiceContract, ref: string): Schema =>
  resolve(service.schemas, { $ref: ref });

function objectExample(service: ServiceContract, { properties = {}, required = [] }: Schema) {
  return Object.fromEntries(required.map((name) => [name, exampleOf(service, properties[name] ?? {})]));
}

/** Returns the required members of an example, or its first member when none is required. */
function shortened({ properties, required = [] }: Schema, given: unknown): unknown {
  if (!properties || typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const members = Object.entries(given);
  const needed = members.filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.length > 0 ? needed : members.slice(0, 1));
}

/** Formats a JSON value as TypeScript. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${memberName(name)}: ${literal(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const quoted = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
