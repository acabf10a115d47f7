/**
 * Derives resources from the paths and schemas of a contract alone:
 *
 *     GET  /roles                      answers a list of R: R is a resource, and this is its collection
 *     POST /roles                      answers 201 (or 202) with R: makes one
 *     GET, PUT, PATCH, DELETE /roles/{roleId}      an item: the parameter names one record
 *     POST /roles/{roleId}/archive     anything below an item: needs the item, and where it answers R it acts on it
 *     GET  /roles/{roleId}/uses        a list below an item: its records live there, whether or not a path names them
 */
import type { Operation } from '../../../generated/operations.ts';
import { exampleOf, operationOf, parameterSchema, resolve } from './document.ts';
import type { Document, Schema } from './document.ts';
import { keysOf } from './links.ts';
import { successOf } from './success.ts';
import {
  collectionOf,
  type Collection,
  type Deed,
  type Item,
  type Listing,
  type Plan,
  type Resource,
} from './plans.ts';
import type { Values } from './values.ts';

/** All resources of a service, and the plan of each operation that involves one, by operation id. */
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

class Contract {
  readonly items = new Map<string, Item>();
  readonly #document: Document;
  readonly #operations: readonly Operation[];
  readonly #resources = new Map<string, Resource>();

  constructor(document: Document, operations: readonly Operation[]) {
    this.#document = document;
    this.#operations = operations;
    const listed = operations.flatMap((one) => this.#listedBy(one)?.name ?? []);
    const made = operations
      .filter((one) => creates(one) || putsBytes(one))
      .flatMap((one) => this.#named(this.#answer(one)) ?? []);
    const known = new Set([...listed, ...made]);
    for (const operation of operations) {
      const item = this.#itemOf(operation, known);
      if (item && !this.items.has(item.path)) this.items.set(item.path, item);
    }
  }

  /** The resources that a path can name. */
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
    const listing = this.#listing(operation);
    if (listing) return { does: 'list', path, ...listing };
    const made = creates(operation) ? this.#madeBy(operation) : undefined;
    const registered = made || !creates(operation) ? undefined : this.#registeredBy(operation);
    if (registered) return { does: 'create', ...registered };
    if (!made || this.within(path).at(-1)?.resource === made)
      return (
        this.#removesAll(operation) ?? {
          does: 'act',
          makes: verb === 'POST' ? this.#madeBeside(operation) : undefined,
        }
      );
    const member = this.#memberNaming(operation, made);
    return member === undefined
      ? { does: 'create', resource: made, path }
      : { does: 'attach', resource: made, path, member };
  }

  #deedOnItem({ verb, path, responses }: Operation, item: Item): Deed {
    if (verb === 'GET' || verb === 'HEAD') return { does: 'get', item };
    if (verb === 'PATCH') return { does: 'update', item };
    const makes = responses.some(({ status }) => status === 201) || !this.#isMade(item.resource);
    if (verb === 'PUT') return { does: makes ? 'put' : 'update', item };
    const home = [...this.items.values()].some(
      (other) =>
        other.resource === item.resource && other.path !== path && this.within(other.path).length === 0,
    );
    if (verb === 'DELETE') return { does: home && this.within(path).length > 0 ? 'detach' : 'remove', item };
    return { does: 'act' };
  }

  /** Returns the item that the path of an operation names, if its resource is listed or created somewhere. */
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
    // A parameter with an enum does not name a record.
    if (!resource || !schema || resolve(this.#document, schema).enum) return undefined;
    const example = String(exampleOf(this.#document, schema));
    const keys = keysOf(resource, schema, example);
    return keys.length === 0 ? undefined : { path, parameter, example, resource, keys };
  }

  /** Returns the schema of an operation's successful answer, if the answer is JSON. */
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

  /** Returns what an operation lists: the records of an array, or of the only array of records in an envelope without an id. */
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

  /** Returns a listing of records that paths name, whole or shortened. Below an item, the records may also be ones that no path names. */
  #listing(operation: Operation): Listing | undefined {
    const listed = this.#listedBy(operation);
    if (!listed) return undefined;
    const { name, member } = listed;
    const named = this.#ifNamed(name);
    if (named) return { resource: named, member };
    const { members } = this.#resource(name);
    const item = [...this.items.values()].find(({ path }) => collectionOf(path) === operation.path);
    const isShort = (all: Resource['members']) =>
      Object.keys(members).every((one) => JSON.stringify(all[one]) === JSON.stringify(members[one]));
    if (item && isShort(item.resource.members))
      return { resource: item.resource, member, shown: Object.keys(members) };
    return this.within(operation.path).length > 0 ? { resource: this.#resource(name), member } : undefined;
  }

  /**
   * Returns the collection to which an action adds a record below the same item: its answer is the record, names it, or
   * contains it in a member or an event.
   */
  #madeBeside(operation: Operation): Collection | undefined {
    const within = this.within(operation.path);
    const last = within.at(-1);
    const answer = this.#answer(operation);
    if (!last || operation.path.slice(last.path.length).includes('{')) return undefined;
    const { properties = {} } = answer ? resolve(this.#document, answer) : {};
    const events = Object.values(operationOf(this.#document, operation.id)['x-events'] ?? {});
    const members = events.flatMap((event) => Object.values(resolve(this.#document, event).properties ?? {}));
    const schemas = [answer, ...Object.values(properties), ...members];
    const told = new Set(schemas.flatMap((schema) => schema?.$ref ?? []));
    for (const other of this.#operations) {
      const below = this.within(other.path);
      if (below.length === 0 || !below.every((item) => within.includes(item))) continue;
      const resource = this.#listing(other)?.resource;
      if (!resource || resource === last.resource) continue;
      const { $ref: id = '' } = resource.members['id'] ?? {};
      if (told.has(`#/components/schemas/${resource.name}`) || told.has(id))
        return { resource, path: other.path };
    }
    return undefined;
  }

  /** Recognises `POST …/delete` with names of records, whose answer lists the records that no longer exist. */
  #removesAll(operation: Operation): Deed | undefined {
    const within = this.within(operation.path).at(-1);
    const [media] = Object.values(operationOf(this.#document, operation.id).requestBody?.content ?? {});
    const answer = this.#answer(operation);
    if (operation.verb !== 'POST' || !within || !media?.schema || !answer) return undefined;
    const listOf = (schema: Schema, kind: string | undefined) =>
      Object.entries(resolve(this.#document, schema).properties ?? {}).find(
        ([, member]) => kind !== undefined && resolve(this.#document, member).items?.$ref === kind,
      )?.[0];
    for (const item of this.items.values()) {
      const kind = item.resource.members[item.keys[0]!]?.$ref;
      const [names, told] = [listOf(media.schema, kind), listOf(answer, kind)];
      if (names !== undefined && told === 'deleted' && this.within(item.path).at(-1) === within)
        return { does: 'removeAll', item, names, told };
    }
    return undefined;
  }

  /** Returns the resource that an operation creates: its answer, what its answer wraps or extends, or what its collection lists. */
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

  /**
   * Returns the record that an operation creates elsewhere: a member of its answer that shares members with its body (a sign-up
   * creates a user).
   */
  #registeredBy(operation: Operation): Collection | undefined {
    const answer = this.#answer(operation);
    const [media] = Object.values(operationOf(this.#document, operation.id).requestBody?.content ?? {});
    if (!answer || !media?.schema || this.within(operation.path).length > 0) return undefined;
    const members = Object.values(resolve(this.#document, answer).properties ?? {});
    const sent = Object.keys(resolve(this.#document, media.schema).properties ?? {});
    for (const { path, resource } of this.items.values()) {
      const isTold = members.some(({ $ref }) => $ref === `#/components/schemas/${resource.name}`);
      const shared = sent.filter((name) => name in resource.members);
      if (isTold && shared.length > 1) return { resource, path: collectionOf(path) };
    }
    return undefined;
  }

  #isMade(resource: Resource): boolean {
    return this.#operations.some((other) => creates(other) && this.#madeBy(other) === resource);
  }

  /** Returns the member of the body that names a record of the resource, if the resource has its own collection elsewhere. */
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

/**
 * Whether an operation creates a record. A 202 is for a record created in the background. A `PUT` to a collection lets the
 * server choose the name.
 */
function creates({ verb, path, responses }: Operation): boolean {
  const toCollection = verb === 'POST' || (verb === 'PUT' && !path.endsWith('}'));
  return toCollection && responses.some(({ status }) => status === 201 || status === 202);
}

const putsBytes = ({ verb, path, body }: Operation) => verb === 'PUT' && path.endsWith('}') && isRaw(body);

const isRaw = (body: Operation['body']) => body?.contentTypes.includes('*/*') ?? false;
