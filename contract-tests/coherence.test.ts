/**
 * Compares the contract's examples with each other and with their schemas: the mock answers with them, and what a page shows of
 * one answer has to match what it shows of the next.
 */
import { describe, expect, it } from 'vitest';
import { operations, services, type Operation, type ServiceName } from '../generated/operations.ts';
import { isObject, objectsIn, overlap, sentenceOf, textsIn } from './coherence.ts';
import { documented, documentOf, nameOf, parametersOf } from './contract.ts';
import { answerExample, bodyExample, exampleOf, requestExample } from './examples.ts';
import { otherIds } from './other-ids.ts';
import { requiredParameters } from './requests.ts';
import { misfit } from './schemas.ts';

/** An example of a body, and what it illustrates. */
interface Shown {
  readonly of: string;
  readonly operation: Operation;
  /** Undefined for a request. */
  readonly status: number | undefined;
  /** The place of its schema in the document, as parts of a JSON pointer. */
  readonly place: readonly string[];
  readonly contentType: string;
  readonly value: unknown;
}

const shown = operations.flatMap(shownBy);

function shownBy(operation: Operation): Shown[] {
  const { path, verb, entry } = documented(operation);
  const bodies = [
    { status: undefined, at: ['requestBody'], content: entry.requestBody?.content },
    ...Object.entries(entry.responses).map(([status, { content }]) => ({
      status: Number(status),
      at: ['responses', status],
      content,
    })),
  ];
  return bodies.flatMap(({ status, at, content = {} }) =>
    Object.entries(content).map(([contentType, media]) => ({
      of: `${nameOf(operation)} ${status ?? 'request'} ${contentType}`,
      operation,
      status,
      place: ['paths', path, verb, ...at, 'content', contentType, 'schema'],
      contentType,
      value: bodyExample(operation.service, media),
    })),
  );
}

describe.each(Object.keys(services) as ServiceName[])('the examples of %s', (service) => {
  const own = operations.filter((operation) => operation.service === service);
  const examples = shown.filter(({ operation }) => operation.service === service);

  it('are there for every parameter that is required, every body and every event', () => {
    for (const operation of own) expect(() => requiredParameters(operation)).not.toThrow();
    const missing = examples.filter(({ contentType, value }) => value === undefined && isText(contentType));
    expect(missing.map(({ of }) => of)).toEqual([]);
    const silent = eventsOf(own).filter(({ schema }) => exampleOf(service, schema) === undefined);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('are what their schemas allow', () => {
    const judged = [
      ...examples.filter(({ value }) => value !== undefined),
      ...own.flatMap(shownParameters),
      ...shownSchemas(service),
      ...eventsOf(own).map(({ name, place, schema }) => ({
        of: name,
        place,
        value: exampleOf(service, schema),
      })),
    ];
    const wrong = judged.flatMap(({ of, place, value }) => {
      const said = misfit(service, place, value);
      return said === undefined ? [] : [`${of} ${said}`];
    });
    expect(wrong).toEqual([]);
  });

  it('show in a list what they show alone', () => {
    const wrong = pairs(own).flatMap(({ list, get, value }) => {
      const items = itemsOf(answerExample(list, 200));
      const item = items.find(
        (one) => one === value || (isObject(one) && membersWith(one, value).length > 0),
      );
      if (item === undefined) return [`${nameOf(list)} does not show ${value}`];
      const alone = answerExample(get, 200);
      if (!isObject(item) || !isObject(alone)) return [];
      const named = membersWith(item, value).filter((member) => member in alone);
      return named.length === 0 || membersWith(alone, value).some((member) => named.includes(member))
        ? []
        : [`${nameOf(get)} answers another than ${value}`];
    });
    expect(wrong).toEqual([]);
  });

  it('answer a path with what it names', () => {
    const wrong = own.flatMap((operation) => {
      const answer = answerExample(operation, successOf(operation));
      if (!isObject(answer) || typeof answer['id'] !== 'string') return [];
      const id = answer['id'];
      const named = Object.values(requiredParameters(operation)).filter(
        (value) => typeof value === 'string' && kindOf(value) !== undefined && kindOf(value) === kindOf(id),
      );
      return named.length === 0 || named.includes(id)
        ? []
        : [`${nameOf(operation)}: ${String(named[0])} is answered with ${id}`];
    });
    expect(wrong).toEqual([]);
  });

  it('answer what was sent to be created or changed', () => {
    const changing = own.filter(
      ({ verb, responses }) =>
        verb === 'PUT' ||
        verb === 'PATCH' ||
        (verb === 'POST' && responses.some(({ status }) => status === 201)),
    );
    const wrong = changing.flatMap((operation) => {
      const sent = requestExample(operation)?.value;
      const answered = answerExample(operation, successOf(operation));
      if (!isObject(sent) || !isObject(answered)) return [];
      return overlap(sent, answered).map((difference) => `${nameOf(operation)}: ${difference}`);
    });
    expect(wrong).toEqual([]);
  });

  it('of failures carry the code of their own status', () => {
    const statuses = new Map<unknown, number>();
    const wrong = examples.flatMap(({ of, status = 0, value }) => {
      if (status < 400 || !isObject(value)) return [];
      const { code } = isObject(value['error']) ? value['error'] : value;
      if (code === undefined) return sentenceOf(value) === undefined ? [`${of} says nothing`] : [];
      const meant = typeof code === 'number' ? code : (statuses.get(code) ?? status);
      statuses.set(code, meant);
      return meant === status ? [] : [`${of}: ${JSON.stringify(code)}, which is for ${meant}`];
    });
    expect(wrong).toEqual([]);
  });

  it('let time go forward', () => {
    const wrong = examples.flatMap(({ of, value }) =>
      objectsIn(value).flatMap((object) =>
        backwards(object, 'created_at', /_at$/)
          .concat(backwards(object, 'started_at', /^(completed|finished|ended|stopped)_at$/))
          .map((sentence) => `${of}: ${sentence}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the ids in all examples', () => {
  const things = new Set(
    shown
      .filter(({ status = 400 }) => status < 400)
      .flatMap(({ value }) => objectsIn(value).map(({ id }) => id))
      .filter((id) => typeof id === 'string'),
  );
  const kinds = new Set([...things].map(kindOf));
  const mentioned = [
    ...shown
      .filter(({ status = 0 }) => status < 400)
      .flatMap(({ of, value }) => textsIn(value).map((text) => ({ of, text }))),
    ...operations.flatMap((operation) =>
      shownParameters(operation).flatMap(({ of, value }) => textsIn(value).map((text) => ({ of, text }))),
    ),
  ];
  const strangers = mentioned.filter(
    ({ text }) => kinds.has(kindOf(text)) && kindOf(text) && !things.has(text),
  );

  it('name things that some example shows', () => {
    const unexplained = strangers.filter(({ text }) => !(text in otherIds));
    expect(unexplained.map(({ of, text }) => `${of}: ${text}`)).toEqual([]);
  });

  it('name nothing else but what is listed, and all of that', () => {
    const texts = new Set(strangers.map(({ text }) => text));
    expect(Object.keys(otherIds).filter((id) => !texts.has(id))).toEqual([]);
  });
});

const isText = (contentType: string): boolean =>
  /^(text\/(?!event-stream)|application\/(json|x-www))/.test(contentType);

const successOf = ({ responses }: Operation): number =>
  responses.find(({ status }) => status >= 200 && status < 300)?.status ?? 0;

function shownParameters(operation: Operation) {
  const { path, verb, entry } = documented(operation);
  return parametersOf(operation).flatMap(({ name, schema }, at) => {
    const value = exampleOf(operation.service, schema);
    // Shared parameters are defined elsewhere and checked with their schemas.
    if (value === undefined || entry.parameters?.[at]?.$ref !== undefined) return [];
    const place = ['paths', path, verb, 'parameters', String(at), 'schema'];
    return [{ of: `${nameOf(operation)} ${name}`, place, value }];
  });
}

function shownSchemas(service: ServiceName) {
  return Object.entries(documentOf(service).components.schemas).flatMap(([name, schema]) =>
    schema.examples === undefined
      ? []
      : [{ of: name, place: ['components', 'schemas', name], value: schema.examples.at(-1) }],
  );
}

function eventsOf(own: readonly Operation[]) {
  return own.flatMap((operation) => {
    const { path, verb, entry } = documented(operation);
    return Object.entries(entry['x-events'] ?? {}).map(([event, schema]) => ({
      name: `${nameOf(operation)} event ${event}`,
      place: ['paths', path, verb, 'x-events', event],
      schema,
    }));
  });
}

/**
 * Returns operations that read one resource, with the operation that lists such resources and the example of the parameter that
 * identifies one.
 */
function pairs(own: readonly Operation[]) {
  return own.flatMap((get) => {
    const [, collection, name] = /^(.*)\/\{\+?([^}]+)\}$/.exec(get.path) ?? [];
    const list = own.find(({ verb, path }) => verb === 'GET' && path === collection);
    if (get.verb !== 'GET' || name === undefined || !list || answerExample(list, 200) === undefined)
      return [];
    return [{ list, get, value: String(requiredParameters(get)[name]) }];
  });
}

/** Returns the members of an item with this value. A number in a path is text. */
const membersWith = (item: Record<string, unknown>, value: string): string[] =>
  Object.keys(item).filter((member) => item[member] === value || JSON.stringify(item[member]) === value);

/** Returns the items of a list, bare or in an envelope. */
function itemsOf(answer: unknown): unknown[] {
  if (Array.isArray(answer)) return answer;
  return isObject(answer) ? (Object.values(answer).find((member) => Array.isArray(member)) ?? []) : [];
}

/** Returns the kind of resource that an id names: the prefix before its UUID. */
const kindOf = (text: unknown): string | undefined =>
  typeof text === 'string' ? /^([a-z]+(?:_[a-z]+)*)_[0-7][0-9a-hjkmnp-tv-z]{25}$/.exec(text)?.[1] : undefined;

/** Returns the times of an object that are earlier than its first one. */
function backwards(object: Record<string, unknown>, first: string, later: RegExp): string[] {
  const start = momentOf(object[first]);
  return Object.entries(object)
    .filter(([name, value]) => later.test(name) && momentOf(value) < start)
    .map(([name]) => `${name} is before ${first}`);
}

const momentOf = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN);
