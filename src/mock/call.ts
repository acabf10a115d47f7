/** One request to a stateful mock: what its operation does to the records of the caller, and what it answers. */
import type { Operation } from '../../generated/operations.ts';
import { decodeCursor, encodeCursor } from '../lib/cursors.ts';
import { operationOf, parameterSchema, resolve, type Document, type Schema } from './document.ts';
import type { Kept, NewRecord } from './memory.ts';
import { actedOn, changedRecord, isTypeId, isValues, newRecord, substituted } from './records.ts';
import {
  linksTo,
  successOf,
  type Deed,
  type Item,
  type Plan,
  type Resource,
  type Values,
} from './resources.ts';
import { counted, isOf, referenceTo, withRecord } from './shapes.ts';
import { isIn, linkValue, placeOf, textsOf, type Step } from './steps.ts';

/** What an operation answers from the memory. Without a body it is the example of the status. */
export interface Outcome {
  readonly status: number;
  readonly body: unknown;
  /** The headers of the example, as they are for this answer. */
  headers(example: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

/** What the caller has, and what the operation does. */
export interface Store {
  readonly items: readonly Item[];
  /** What the operation does to the record that it acts on. */
  readonly effect: Values;
  records(resource: Resource): Kept[];
  add(resource: Resource, record: NewRecord): Kept;
  remove(record: Kept): void;
}

export class Call {
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

const failure = (status: number): Outcome => ({ status, body: undefined, headers: (headers) => headers });

function withNext(
  { 'X-Next-Cursor': _example, ...headers }: Readonly<Record<string, string>>,
  next: string | null,
) {
  return next === null ? headers : { ...headers, 'X-Next-Cursor': next };
}
