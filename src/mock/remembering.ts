/** The stateful mock: what operations do to the records of a tenant, planned by what the contract says about resources. */
import type { Operation, ServiceName } from '../../generated/operations.ts';
import { decodeCursor, encodeCursor } from '../lib/cursors.ts';
import { operationOf, parameterSchema, resolve, type Document, type Schema } from './document.ts';
import type { Kept, Memory, NewRecord } from './memory.ts';
import {
  actedOn,
  changedRecord,
  effectOf,
  fits,
  isTypeId,
  isValues,
  newRecord,
  substituted,
} from './records.ts';
import { linksTo, resourcesOf, successOf } from './resources.ts';
import type { Deed, Item, Plan, Resource, Values } from './resources.ts';

/** What an operation answers from the memory. Without a body it is the example of the status. */
export interface Outcome {
  readonly status: number;
  readonly body: unknown;
  /** The headers of the example, as they are for this answer. */
  headers(example: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

/** Undefined for what has nothing to do with records: that answers its example. */
export type Remember = (
  operation: Operation,
  request: Values,
  tenant: string | undefined,
) => Outcome | undefined;

export function remembering(
  name: ServiceName,
  document: Document,
  operations: readonly Operation[],
  memory: Memory,
): Remember {
  const { items, plans } = resourcesOf(document, operations);
  const seeds = seedsOf(document, operations, plans);
  const effects = effectsOf(document, operations, plans);
  return (operation, request, tenant) => {
    const plan = plans.get(operation.id);
    if (!plan) return undefined;
    const shelf = ({ name: resource }: Resource) => `${name} ${resource} ${tenant ?? ''}`;
    const owned = ({ members }: Resource, { values, places }: NewRecord): NewRecord => {
      const schema = members['tenant_id'];
      const isNamed = tenant !== undefined && schema && fits(document, schema, tenant);
      return { values: isNamed ? { ...values, tenant_id: tenant } : values, places };
    };
    return new Call(document, operation, request, plan, {
      items,
      effect: effects.get(operation.id) ?? {},
      records: (resource) =>
        memory.records(shelf(resource), () => seeds(resource).map((seed) => owned(resource, seed))),
      add: (resource, record) => memory.add(shelf(resource), owned(resource, record)),
      remove: (record) => memory.remove(record),
    }).outcome();
  };
}

interface Store {
  readonly items: readonly Item[];
  /** What the operation does to the record that it acts on. */
  readonly effect: Values;
  records(resource: Resource): Kept[];
  add(resource: Resource, record: NewRecord): Kept;
  remove(record: Kept): void;
}

/** An item of the path and the record that it names. */
interface Step {
  readonly item: Item;
  readonly record: Kept;
}

class Call {
  readonly #document: Document;
  readonly #operation: Operation;
  readonly #request: Values;
  readonly #plan: Plan;
  readonly #store: Store;
  readonly #now = new Date();

  constructor(document: Document, operation: Operation, request: Values, plan: Plan, store: Store) {
    this.#document = document;
    this.#operation = operation;
    this.#request = request;
    this.#plan = plan;
    this.#store = store;
  }

  outcome(): Outcome | undefined {
    const steps: Step[] = [];
    for (const item of this.#plan.within) {
      const record = this.#find(item);
      if (!record) return this.#missing();
      steps.push({ item, record });
    }
    return this.#do(this.#plan.deed, steps);
  }

  #do(deed: Deed, steps: readonly Step[]): Outcome | undefined {
    switch (deed.does) {
      case 'create':
        return this.#create(deed.resource, deed.path, steps);
      case 'attach':
        return this.#attach(deed.resource, deed.path, deed.member, steps);
      case 'list':
        return this.#list(deed.resource, deed.path, deed.member, steps);
      case 'act':
        return this.#act(steps);
      default:
        return this.#onItem(deed, steps);
    }
  }

  #onItem({ does, item }: Extract<Deed, { item: Item }>, steps: readonly Step[]): Outcome | undefined {
    const record = this.#find(item, steps);
    if (!record) return does === 'put' ? this.#put(item, steps) : this.#missing();
    if (does === 'detach') {
      record.places.delete(placeOf(item.path.slice(0, item.path.lastIndexOf('/')), steps));
      return this.#example(steps);
    }
    if (does === 'update' || does === 'put')
      record.values = changedRecord(this.#document, item.resource, record.values, this.#sent(), this.#now);
    if (does === 'remove') {
      this.#store.remove(record);
      return this.#answer(item.resource, { item, record }, steps);
    }
    return this.#answer(item.resource, { item, record }, steps);
  }

  #create(resource: Resource, path: string, steps: readonly Step[]): Outcome {
    const taken = this.#taken(resource);
    if (taken && this.#documents(200) && this.#documents(201)) {
      taken.values = changedRecord(this.#document, resource, taken.values, this.#sent(), this.#now);
      return this.#answered(200, resource, taken, steps);
    }
    if (taken && this.#documents(409)) return failure(409);
    const status = this.#documents(201) ? 201 : 202;
    return this.#answered(status, resource, this.#add(resource, path, steps, status), steps);
  }

  #put(item: Item, steps: readonly Step[]): Outcome {
    const collection = item.path.slice(0, item.path.lastIndexOf('/'));
    const status = this.#documents(201) ? 201 : 200;
    const record = this.#add(item.resource, collection, steps, status);
    for (const key of item.keys) record.values[key] = this.#request[item.parameter];
    return this.#answered(status, item.resource, record, steps);
  }

  #add(resource: Resource, path: string, steps: readonly Step[], status: number): Kept {
    const { own } = successOf(this.#document, this.#operation, status);
    const values = newRecord(this.#document, {
      resource,
      own: isOf(resource, own) ? own : undefined,
      settable: this.#settable(),
      sent: this.#sent(),
      now: this.#now,
    });
    for (const { item, record } of steps) {
      for (const link of linksTo(resource, item)) values[link] = linkValue(resource, link, item, record);
    }
    return this.#store.add(resource, { values, places: new Set([placeOf(path, steps)]) });
  }

  #attach(resource: Resource, path: string, member: string, steps: readonly Step[]): Outcome | undefined {
    const id = this.#sent()[member];
    const record = this.#store.records(resource).find(({ values }) => values['id'] === id);
    if (!record) return this.#missing();
    record.places.add(placeOf(path, steps));
    return this.#answered(this.#documents(201) ? 201 : 200, resource, record, steps);
  }

  #list(resource: Resource, path: string, member: string | undefined, steps: readonly Step[]): Outcome {
    const { status, schema, example } = successOf(this.#document, this.#operation);
    const matching = this.#store
      .records(resource)
      .filter((record) => isIn(record, resource, path, steps) && this.#isWanted(record, resource));
    const {
      limit = Infinity,
      offset = 0,
      cursor,
    } = this.#request as { limit?: number; offset?: number; cursor?: string };
    const before = cursor === undefined ? undefined : decodeCursor(cursor, { before: 'number' }).before;
    const rest = before === undefined ? matching.slice(offset) : matching.filter(({ seq }) => seq < before);
    const page = rest.slice(0, Math.min(limit, this.#most(schema, member)));
    const last = page.at(-1);
    const more = page.length < rest.length && last !== undefined;
    const next = more ? encodeCursor({ before: last.seq }) : null;
    const found = page.map(({ values }) => values);
    const figures = {
      total: matching.length,
      limit,
      offset,
      has_more: more,
      truncated: more,
      next_cursor: next,
      cursor: next,
    };
    const body = member === undefined ? found : { ...counted(example, figures), [member]: found };
    return {
      status,
      body,
      headers: (headers) => withNext(headers, this.#tells('X-Next-Cursor') ? next : null),
    };
  }

  /** Below an item: what answers the item's own resource acts on the record, anything else answers its example. */
  #act(steps: readonly Step[]): Outcome | undefined {
    const step = steps.at(-1);
    if (!step) return undefined;
    const { schema } = successOf(this.#document, this.#operation);
    const { resource } = step.item;
    if (schema?.$ref !== referenceTo(resource)) return this.#example(steps);
    const { record } = step;
    if (this.#operation.verb !== 'GET')
      record.values = actedOn(
        this.#document,
        resource,
        record.values,
        this.#store.effect,
        this.#sent(),
        this.#now,
      );
    return this.#answer(resource, step, steps);
  }

  #answer(resource: Resource, { record }: Step, steps: readonly Step[]): Outcome {
    return this.#answered(successOf(this.#document, this.#operation).status, resource, record, steps);
  }

  /** The documented answer with the record in it. */
  #answered(status: number, resource: Resource, { values }: Kept, steps: readonly Step[]): Outcome {
    const { schema, example } = successOf(this.#document, this.#operation, status);
    const ids: [string, string][] = [[String(resource.example['id']), String(values['id'])]];
    const texts = [...textsOf(steps), ...ids.filter(([from, to]) => isTypeId(from) && isTypeId(to))];
    return {
      status,
      body: schema && withRecord(this.#document, schema, substituted(example, texts), resource, values),
      headers: (headers) => substituted(headers, texts),
    };
  }

  /** The example of the operation, about the records of the path. */
  #example(steps: readonly Step[]): Outcome | undefined {
    const { status, example } = successOf(this.#document, this.#operation);
    if (example === undefined) return undefined;
    const texts = textsOf(steps);
    return { status, body: substituted(example, texts), headers: (headers) => substituted(headers, texts) };
  }

  #missing(): Outcome | undefined {
    return this.#documents(404) ? failure(404) : undefined;
  }

  #find(item: Item, steps: readonly Step[] = []): Kept | undefined {
    const wanted = String(this.#request[item.parameter]);
    const collection = item.path.slice(0, item.path.lastIndexOf('/'));
    return this.#store
      .records(item.resource)
      .find(
        (record) =>
          item.keys.some((key) => String(record.values[key]) === wanted) &&
          isIn(record, item.resource, collection, steps),
      );
  }

  /** The record that has the name already by which a path would find the new one. */
  #taken(resource: Resource): Kept | undefined {
    const keys = this.#store.items.filter((item) => item.resource === resource).flatMap(({ keys }) => keys);
    const sent = this.#sent();
    const named = keys.filter((key) => sent[key] !== undefined && sent[key] !== null);
    return this.#store.records(resource).find(({ values }) => named.some((key) => values[key] === sent[key]));
  }

  /** Whether a record has what the query, and the path beyond its items, ask for. */
  #isWanted({ values }: Kept, resource: Resource): boolean {
    return this.#operation.parameters.every(({ in: place, name }) => {
      const wanted = this.#request[name];
      const member = place === 'query' ? name : this.#memberInPath(place, name, resource);
      if (wanted === undefined || member === undefined || !(member in resource.members)) return true;
      const value = values[member];
      return [wanted].flat().some((one) => (Array.isArray(value) ? value.includes(one) : value === one));
    });
  }

  #memberInPath(place: string, name: string, { members }: Resource): string | undefined {
    if (place !== 'path' || this.#plan.within.some(({ parameter }) => parameter === name)) return undefined;
    const schema = parameterSchema(this.#document, operationOf(this.#document, this.#operation.id), name);
    return Object.keys(members).find((member) => members[member]!.$ref === schema?.$ref);
  }

  #sent(): Values {
    const body = this.#request['body'];
    return isValues(body) && !(Symbol.asyncIterator in body) ? body : {};
  }

  #settable(): ReadonlySet<string> {
    const [media] = Object.values(operationOf(this.#document, this.#operation.id).requestBody?.content ?? {});
    return new Set(
      Object.keys(media?.schema ? (resolve(this.#document, media.schema).properties ?? {}) : {}),
    );
  }

  #documents(status: number): boolean {
    return this.#operation.responses.some((response) => response.status === status);
  }

  #tells(header: string): boolean {
    return this.#operation.responses.some(({ headers }) => headers.includes(header));
  }

  /** Most records that a list may have. */
  #most(schema: Schema | undefined, member: string | undefined): number {
    const list = schema && resolve(this.#document, schema);
    const records = member === undefined ? list : list?.properties?.[member];
    const most = records && resolve(this.#document, records)['maxItems'];
    return typeof most === 'number' ? most : Infinity;
  }
}

const referenceTo = ({ name }: Resource) => `#/components/schemas/${name}`;

const failure = (status: number): Outcome => ({ status, body: undefined, headers: (headers) => headers });

/** A collection below records: its path with their names in it. */
function placeOf(path: string, steps: readonly Step[]): string {
  return steps.reduce(
    (place, { item, record }) => place.replace(`{${item.parameter}}`, String(record.values[item.keys[0]!])),
    path,
  );
}

/** Whether a record is in the collection: it names the record above it, or was put there. */
function isIn({ values, places }: Kept, resource: Resource, path: string, steps: readonly Step[]): boolean {
  const above = steps.at(-1);
  if (!above) return true;
  const [link] = linksTo(resource, above.item);
  if (link === undefined) return places.has(placeOf(path, steps));
  const { values: owner } = above.record;
  return Object.keys(above.item.resource.members).some(
    (key) => typeof owner[key] === 'string' && owner[key] === values[link],
  );
}

/** What the link is: the member of the record above that it is in the examples. */
function linkValue(
  resource: Resource,
  link: string,
  { resource: above, keys }: Item,
  { values }: Kept,
): unknown {
  const wanted = resource.example[link];
  const key =
    ['id', ...keys].find((name) => wanted !== undefined && above.example[name] === wanted) ?? keys[0]!;
  return values[key];
}

/** The ids of the examples, and those that are meant instead. */
function textsOf(steps: readonly Step[]): [string, string][] {
  return steps.flatMap(({ item, record }): [string, string][] => {
    const from = item.resource.example['id'];
    const to = record.values['id'];
    return isTypeId(from) && isTypeId(to) ? [[from, to]] : [];
  });
}

const isOf = ({ members }: Resource, value: unknown): value is Values =>
  isValues(value) && Object.keys(members).every((name) => name in value);

/** An answer that is the record, wraps it, or shares members with it. */
function withRecord(
  document: Document,
  schema: Schema,
  example: unknown,
  resource: Resource,
  values: Values,
): unknown {
  const reference = referenceTo(resource);
  if (schema.$ref === reference) return values;
  const { properties = {} } = resolve(document, schema);
  if (!isValues(example)) return example;
  const members = Object.entries(example).map(([name, member]) => {
    const own = properties[name];
    if (own?.$ref === reference) return [name, values];
    const same = JSON.stringify(own) === JSON.stringify(resource.members[name]) || name === 'id';
    if (same && name in values) return [name, values[name]];
    const isId = own?.$ref !== undefined && own.$ref === resource.members['id']?.$ref;
    return [name, isId ? values['id'] : member];
  });
  return Object.fromEntries(members) as unknown;
}

/** The envelope of a list with the figures of this page, wherever it has them. */
function counted(example: unknown, figures: Values): Values {
  if (!isValues(example)) return {};
  const members = Object.entries(example).map(([name, value]) => {
    if (name === 'pagination') return [name, counted(value, figures)];
    return [name, name in figures && figures[name] !== Infinity ? figures[name] : value];
  });
  return Object.fromEntries(members) as Values;
}

function withNext(
  { 'X-Next-Cursor': _example, ...headers }: Readonly<Record<string, string>>,
  next: string | null,
) {
  return next === null ? headers : { ...headers, 'X-Next-Cursor': next };
}

/** The records of the examples, by resource: they exist at the start, so that the ids of the examples lead somewhere. */
function seedsOf(document: Document, operations: readonly Operation[], plans: ReadonlyMap<string, Plan>) {
  return (resource: Resource): NewRecord[] => {
    const found = new Map<unknown, NewRecord>();
    const add = (value: unknown, place: string | undefined) => {
      if (!isOf(resource, value)) return;
      const key = value['id'] ?? JSON.stringify(value);
      const seed = found.get(key) ?? { values: { ...value }, places: new Set<string>() };
      if (place !== undefined) seed.places.add(place);
      found.set(key, seed);
    };
    add(resource.example, undefined);
    for (const operation of operations) {
      const plan = plans.get(operation.id);
      if (!plan) continue;
      const { deed, within } = plan;
      const { example } = successOf(document, operation);
      if (deed.does === 'get' && deed.item.resource === resource) add(example, undefined);
      if (deed.does !== 'list' || deed.resource !== resource) continue;
      const listed = deed.member === undefined ? example : (example as Values | undefined)?.[deed.member];
      for (const record of Array.isArray(listed) ? listed : [])
        add(record, placeOf(deed.path, within.map(asExample)));
    }
    return [...found.values()];
  };
}

/**
 * What each action does, told by its examples. One without an example of its own brings back what the others change: `enable`
 * after `disable`.
 */
function effectsOf(
  document: Document,
  operations: readonly Operation[],
  plans: ReadonlyMap<string, Plan>,
): Map<string, Values> {
  const actions = operations.flatMap((operation) => {
    const plan = plans.get(operation.id);
    const resource = plan?.within.at(-1)?.resource;
    const { schema, own } = successOf(document, operation);
    const acts = plan?.deed.does === 'act' && resource && schema?.$ref === referenceTo(resource);
    return acts ? [{ id: operation.id, resource, own: isOf(resource, own) ? own : undefined }] : [];
  });
  return new Map(
    actions.map(({ id, resource, own }) => {
      if (own) return [id, effectOf(resource, own)];
      const siblings = actions.filter((other) => other.resource === resource && other.own);
      const names = siblings.flatMap((other) => Object.keys(effectOf(resource, other.own!)));
      return [id, Object.fromEntries(names.map((name) => [name, resource.example[name]]))];
    }),
  );
}

const asExample = (item: Item): Step => ({
  item,
  record: { seq: 0, values: { ...item.resource.example }, places: new Set() },
});
