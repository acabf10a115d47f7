/**
 * What a contract says about resources, read from its paths and schemas alone:
 *
 *     GET  /roles                      answers a list of R: R is a resource, and this is its collection
 *     POST /roles                      answers 201 (or 202) with R: makes one
 *     GET, PUT, PATCH, DELETE /roles/{roleId}      an item: the parameter names one record
 *     POST /roles/{roleId}/archive     anything below an item: needs the item, and where it answers R it acts on it
 */
import type { Operation } from '../../generated/operations.ts';
import { exampleOf, exampleOfMedia, operationOf, parameterSchema, resolve } from './document.ts';
import type { Document, Schema } from './document.ts';

export type Values = Readonly<Record<string, unknown>>;

/** A kind of record: a named schema that is listed or made, and named by paths. */
export interface Resource {
  readonly name: string;
  readonly members: Readonly<Record<string, Schema>>;
  readonly example: Values;
}

/** A path that ends in the name of one record. */
export interface Item {
  readonly path: string;
  readonly parameter: string;
  /** What the parameter is in the examples. */
  readonly example: string;
  readonly resource: Resource;
  /** Members that the parameter may be. */
  readonly keys: readonly string[];
}

/** What an operation does to records. */
export type Deed =
  | { readonly does: 'create'; readonly resource: Resource; readonly path: string }
  /** Puts a record that exists into a collection below another one; the member of the body names it. */
  | { readonly does: 'attach'; readonly resource: Resource; readonly path: string; readonly member: string }
  /** `member` is where an envelope has the records. */
  | {
      readonly does: 'list';
      readonly resource: Resource;
      readonly path: string;
      readonly member: string | undefined;
    }
  /** A `PUT` that is the only way to make a record makes what is missing. */
  | { readonly does: 'get' | 'update' | 'put' | 'remove'; readonly item: Item }
  /** Takes a record out of a collection below another one; it lives elsewhere. */
  | { readonly does: 'detach'; readonly item: Item }
  /** Anything else below an item. */
  | { readonly does: 'act' };

export interface Plan {
  readonly deed: Deed;
  /** The items that the path goes through, the outermost first. */
  readonly within: readonly Item[];
}

/** All resources of a service, and the plan of each operation that has to do with one, by operation id. */
export interface Resources {
  readonly resources: readonly Resource[];
  readonly items: readonly Item[];
  readonly plans: ReadonlyMap<string, Plan>;
}

export function resourcesOf(document: Document, operations: readonly Operation[]): Resources {
  const contract = new Contract(document, operations);
  const plans = new Map<string, Plan>();
  for (const operation of operations) {
    const deed = contract.deedOf(operation);
    const within = contract.within(operation.path);
    if (deed.does !== 'act' || within.length > 0) plans.set(operation.id, { deed, within });
  }
  return { resources: contract.resources, items: [...contract.items.values()], plans };
}

/** The nearest example of the success of an operation. */
export function successOf(document: Document, { id, responses }: Operation, status?: number) {
  const first = status ?? Math.min(...responses.map((response) => response.status));
  const media = operationOf(document, id).responses[first]?.content?.['application/json'];
  return {
    status: first,
    schema: media?.schema,
    example: media && exampleOfMedia(document, media),
    own: media?.example,
  };
}

class Contract {
  readonly items = new Map<string, Item>();
  readonly #document: Document;
  readonly #operations: readonly Operation[];
  readonly #resources = new Map<string, Resource>();

  constructor(document: Document, operations: readonly Operation[]) {
    this.#document = document;
    this.#operations = operations;
    const listed = operations.flatMap((one) => this.#listedBy(one)?.name ?? []);
    const made = operations.filter(creates).flatMap((one) => this.#named(this.#answer(one)) ?? []);
    const known = new Set([...listed, ...made]);
    for (const operation of operations) {
      const item = this.#itemOf(operation, known);
      if (item && !this.items.has(item.path)) this.items.set(item.path, item);
    }
  }

  /** Those that a path can name. */
  get resources(): readonly Resource[] {
    return [...new Set([...this.items.values()].map(({ resource }) => resource))];
  }

  within(path: string): Item[] {
    return [...this.items.values()]
      .filter((item) => path.startsWith(`${item.path}/`))
      .sort((one, other) => one.path.length - other.path.length);
  }

  deedOf(operation: Operation): Deed {
    const item = this.items.get(operation.path);
    if (item) return this.#deedOnItem(operation, item);
    const { path, verb } = operation;
    const listed = this.#listedBy(operation);
    const resource = listed && this.#ifNamed(listed.name);
    if (verb === 'GET' && resource) return { does: 'list', resource, path, member: listed.member };
    const made = creates(operation) ? this.#madeBy(operation) : undefined;
    if (!made || this.within(path).at(-1)?.resource === made) return { does: 'act' };
    const member = this.#memberNaming(operation, made);
    return member === undefined
      ? { does: 'create', resource: made, path }
      : { does: 'attach', resource: made, path, member };
  }

  #deedOnItem({ verb, path }: Operation, item: Item): Deed {
    if (verb === 'GET') return { does: 'get', item };
    if (verb === 'PATCH') return { does: 'update', item };
    if (verb === 'PUT') return { does: this.#isMade(item.resource) ? 'update' : 'put', item };
    const home = [...this.items.values()].some(
      (other) =>
        other.resource === item.resource && other.path !== path && this.within(other.path).length === 0,
    );
    if (verb === 'DELETE') return { does: home && this.within(path).length > 0 ? 'detach' : 'remove', item };
    return { does: 'act' };
  }

  /** The item that the path of an operation is, where what it names is listed or made somewhere. */
  #itemOf(operation: Operation, known: ReadonlySet<string>): Item | undefined {
    const { path } = operation;
    const parts = /^(.*)\/\{\+?([^}]+)\}$/.exec(path);
    if (!parts) return undefined;
    const [, collection = '', parameter = ''] = parts;
    const own = operation.verb === 'DELETE' ? undefined : this.#named(this.#answer(operation));
    const inCollection = this.#operations
      .filter((other) => other.path === collection)
      .flatMap(
        (other) =>
          this.#listedBy(other)?.name ??
          (creates(other) ? this.#named(this.#answer(other)) : undefined) ??
          [],
      );
    const name = own !== undefined && known.has(own) ? own : inCollection[0];
    const resource = name === undefined ? undefined : this.#resource(name);
    const schema = parameterSchema(this.#document, operationOf(this.#document, operation.id), parameter);
    // A choice among a few names no record.
    if (!resource || !schema || resolve(this.#document, schema).enum) return undefined;
    const example = String(exampleOf(this.#document, schema));
    const keys = keysOf(resource, schema, example);
    return keys.length === 0 ? undefined : { path, parameter, example, resource, keys };
  }

  /** The answer of an operation that succeeds, where it is JSON. */
  #answer(operation: Operation): Schema | undefined {
    return successOf(this.#document, operation).schema;
  }

  #named(schema: Schema | undefined): string | undefined {
    const name = schema?.$ref?.replace('#/components/schemas/', '');
    return name !== undefined && this.#document.components.schemas[name]?.properties ? name : undefined;
  }

  #resource(name: string): Resource {
    let found = this.#resources.get(name);
    if (!found) {
      const { properties = {}, examples = [] } = this.#document.components.schemas[name]!;
      found = { name, members: properties, example: (examples.at(-1) ?? {}) as Values };
      this.#resources.set(name, found);
    }
    return found;
  }

  #ifNamed(name: string): Resource | undefined {
    return this.resources.find((resource) => resource.name === name);
  }

  /** What an operation lists: the records of an array, or of the only array of records in an envelope without an id. */
  #listedBy(operation: Operation): { name: string; member: string | undefined } | undefined {
    const answer = operation.verb === 'GET' ? this.#answer(operation) : undefined;
    if (!answer) return undefined;
    const { items, properties = {} } = resolve(this.#document, answer);
    const direct = items && this.#named(items);
    if (direct !== undefined) return { name: direct, member: undefined };
    if ('id' in properties) return undefined;
    const lists = Object.entries(properties).flatMap(([member, schema]) => {
      const name = this.#named(resolve(this.#document, schema).items);
      return name === undefined ? [] : [{ name, member }];
    });
    return lists.length === 1 ? lists[0] : undefined;
  }

  /** What a creating operation makes: what it answers, what its answer wraps or extends, or what its collection lists. */
  #madeBy(operation: Operation): Resource | undefined {
    const answer = this.#answer(operation);
    const own = this.#named(answer);
    if (own === undefined) return undefined;
    const direct = this.#ifNamed(own);
    if (direct) return direct;
    const { properties = {} } = this.#document.components.schemas[own]!;
    const listed = this.#operations
      .filter((other) => other.path === operation.path)
      .map((other) => this.#listedBy(other))
      .find((found) => found !== undefined);
    const resource = listed && this.#ifNamed(listed.name);
    const id = resource?.members['id']?.$ref;
    const tells =
      resource &&
      Object.values(properties).some(
        ({ $ref }) => $ref !== undefined && ($ref === id || $ref === `#/components/schemas/${resource.name}`),
      );
    return tells ? resource : undefined;
  }

  #isMade(resource: Resource): boolean {
    return this.#operations.some((other) => creates(other) && this.#madeBy(other) === resource);
  }

  /** The member of the body that names a record of the resource, where the resource has a collection of its own elsewhere. */
  #memberNaming(operation: Operation, resource: Resource): string | undefined {
    const elsewhere = [...this.items.values()].some(
      (item) => item.resource === resource && this.within(item.path).length === 0,
    );
    const [media] = Object.values(operationOf(this.#document, operation.id).requestBody?.content ?? {});
    const id = resource.members['id']?.$ref;
    if (!elsewhere || this.within(operation.path).length === 0 || !media?.schema || id === undefined)
      return undefined;
    const { properties = {} } = resolve(this.#document, media.schema);
    return Object.keys(properties).find((name) => properties[name]!.$ref === id);
  }
}

/** A list is read, a record is made: 202 is for what is made in the background. */
function creates({ verb, responses }: Operation): boolean {
  return verb === 'POST' && responses.some(({ status }) => status === 201 || status === 202);
}

/** The members of the parameter's own kind; else the id and those that are the parameter in the examples. */
function keysOf({ members, example }: Resource, { $ref }: Schema, text: string): string[] {
  const names = Object.keys(members);
  const same = names.filter((name) => $ref !== undefined && members[name]!.$ref === $ref);
  if (same.length > 0) return same;
  const equal = names.filter((name) => example[name] === text);
  return equal.length > 0 ? [...new Set(['id', ...equal])].filter((name) => name in members) : [];
}

/**
 * The members of a record that say below which item it lives: the first that is of the same kind as what names the item or the
 * same in the examples, and those that repeat a name of it (`agent_id` and `agent_name`).
 */
export function linksTo({ members, example }: Resource, { keys, resource: above }: Item): string[] {
  const kinds = new Set(keys.map((key) => above.members[key]?.$ref).filter((kind) => kind !== undefined));
  const values = new Set(keys.map((key) => above.example[key]));
  const candidates = Object.keys(members).filter((name) => name !== 'id' && name !== 'name');
  const isSame = (name: string) => typeof example[name] === 'string' && values.has(example[name]);
  const first = candidates.find((name) => kinds.has(members[name]!.$ref ?? '')) ?? candidates.find(isSame);
  const repeats = candidates.filter((name) => isSame(name) && keys.some((key) => name.endsWith(`_${key}`)));
  return [...new Set([...(first === undefined ? [] : [first]), ...repeats])];
}
