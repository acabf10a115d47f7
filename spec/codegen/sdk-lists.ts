/** How to read the contract's lists page by page: derived from parameters and schemas, never from names of services. */
import { resolve, successes, type Operation, type Schema, type ServiceContract } from './contract.ts';

export interface ListShape {
  /** The parameter that requests the next page. */
  pages: 'cursor' | 'offset';
  /** The member of the answer that has the items. Absent when the answer is the array of items. */
  items?: string;
  /** The member of the answer that has the next page's cursor. Absent when the header `X-Next-Cursor` has it. */
  cursor?: string;
  /** The path to the member of the answer that says whether more follow. */
  more?: string;
}

const cursorMembers = ['next_cursor', 'nextCursor', 'cursor'];

/** Returns undefined unless the operation is a paged list. Only GET counts: the pages of a POST are answers to a question. */
export function listOf(service: ServiceContract, operation: Operation): ListShape | undefined {
  if (operation.verb !== 'GET' || itemOf(service, operation) === undefined) return undefined;
  const names = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const pages = (['cursor', 'offset'] as const).find((name) => names.includes(name));
  if (pages === undefined) return undefined;
  const page = pageOf(service, operation);
  const items = itemsMember(service, page);
  const cursor = cursorMembers.find((name) => page.properties?.[name]);
  const more = moreMember(service, page);
  const header = successes(operation)[0]?.headers.includes('X-Next-Cursor');
  if (pages === 'cursor' && !header && cursor === undefined)
    throw new Error(`${service.name}: ${operation.id} takes a cursor and answers none`);
  return { pages, ...(items && { items }), ...(cursor && { cursor }), ...(more && { more }) };
}

/** Returns the schema of the items in a list, or undefined when the answer is not a list. */
export function itemOf(service: ServiceContract, operation: Operation): Schema | undefined {
  const page = pageOf(service, operation);
  if (page.type === 'array') return page.items ?? {};
  const member = page.properties?.[itemsMember(service, page) ?? ''];
  return member && resolve(service.schemas, member).items;
}

function pageOf(service: ServiceContract, operation: Operation): Schema {
  const schema = successes(operation)[0]?.content[0]?.schema;
  return schema ? resolve(service.schemas, schema) : {};
}

/** Returns the name of an envelope's only array or, if there are several, of the only array of records. */
function itemsMember({ schemas }: ServiceContract, { properties = {} }: Schema): string | undefined {
  const arrays = Object.entries(properties)
    .map(([name, schema]) => [name, resolve(schemas, schema)] as const)
    .filter(([, { type }]) => type === 'array');
  const isRecord = (schema: Schema | undefined) => schema && resolve(schemas, schema).type === 'object';
  const candidates = arrays.length === 1 ? arrays : arrays.filter(([, { items }]) => isRecord(items));
  return candidates.length === 1 ? candidates[0]?.[0] : undefined;
}

/** Returns the path of `has_more`, in the envelope itself or in one of its members. */
function moreMember({ schemas }: ServiceContract, { properties = {} }: Schema): string | undefined {
  if (properties['has_more']) return 'has_more';
  const holder = Object.entries(properties).find(
    ([, schema]) => resolve(schemas, schema).properties?.['has_more'],
  );
  return holder && `${holder[0]}.has_more`;
}
