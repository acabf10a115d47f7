/** Ids in requests: their places, the things they name, and ids of things that do not exist. */
import { typeidUnboxed } from 'typeid-js';
import type { Operation } from '../generated/operations.ts';
import { parametersOf, resolve, type Schema } from './contract.ts';
import { bodySchema, exampleBody, exampleRequest, type WireRequest } from './requests.ts';

/** Ids of existing things in a tenant, by prefix; `billing:inv` where two services have things with one prefix. */
export type Pool = ReadonlyMap<string, string>;

/** A place for the id of a stored thing in the requests of an operation. */
export interface IdPlace {
  readonly in: 'path' | 'query' | 'body';
  readonly name: string;
  /** What the id names, as in the pool. */
  readonly prefix: string;
}

const typeId = /^([a-z]+)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Returns the id of a thing that does not exist and never did. */
export const absentId = (prefix: string): string => typeidUnboxed(prefix.replace(/^.*:/, ''));

export function idPlaces(operation: Operation): IdPlace[] {
  const { service } = operation;
  const parameters = parametersOf(operation).flatMap(({ name, in: place, schema }) => {
    const prefix = namesApp(operation, name) ? 'app' : prefixOf(service, schema);
    return prefix === undefined || place === 'header' ? [] : [{ in: place, name, prefix }];
  });
  const schema = bodySchema(operation);
  if (!schema) return parameters;
  const { app_id } = propertiesOf(service, schema);
  const app = app_id && operation.ownApps ? [{ in: 'body' as const, name: 'app_id', prefix: 'app' }] : [];
  return [...parameters, ...memberPlaces(service, schema), ...app];
}

/** Whether a parameter names a stored app. Not all ids of apps have the usual form. */
const namesApp = ({ ownApps }: Operation, name: string): boolean =>
  ownApps === true && (name === 'appId' || name === 'app_id');

const propertiesOf = (service: Operation['service'], schema: Schema) =>
  (resolve(service, schema)['properties'] ?? {}) as Record<string, Schema>;

/** Returns the places in a body. The first item stands for all items of a list: `records.0.key_id`. */
function memberPlaces(
  service: Operation['service'],
  schema: Schema,
  path: readonly string[] = [],
): IdPlace[] {
  const { items } = resolve(service, schema);
  if (items !== undefined && path.length < 4) return memberPlaces(service, items as Schema, [...path, '0']);
  const prefix = path.length === 0 ? undefined : prefixOf(service, schema);
  if (prefix !== undefined)
    return madeByClients.has(prefix) ? [] : [{ in: 'body', name: path.join('.'), prefix }];
  return Object.entries(propertiesOf(service, schema)).flatMap(([name, property]) =>
    memberPlaces(service, property, [...path, name]),
  );
}

/** Returns the prefix that a schema demands of an id, even if the id may be null. */
function prefixOf(service: Operation['service'], schema: Schema): string | undefined {
  const found = resolve(service, schema);
  const forms = (found['anyOf'] ?? []) as Schema[];
  // A tenant's own name may stand in place of an id.
  const own = /^\^\(?([a-z]+)_\[0-7\]/.exec(String(found['pattern']))?.[1];
  return (
    kindOf(service, own) ??
    forms.map((form) => prefixOf(service, form)).find((prefix) => prefix !== undefined)
  );
}

/** Jobs and webhooks both have dead letters; an invitation and an invoice have one prefix. */
const shared = new Set(['webhooks:dlq', 'billing:inv']);

/** Returns the key in the pool of a thing of this service. */
export const kindOf = <Prefix extends string | undefined>(service: Operation['service'], prefix: Prefix) =>
  shared.has(`${service}:${prefix}`) ? `${service}:${prefix}` : prefix;

/**
 * Builds the example request of an operation with only existing ids from the pool. Members whose kind is not in the pool are
 * omitted. `placed` puts one given id into one place.
 */
export function requestWith(
  operation: Operation,
  pool: Pool,
  placed?: { place: IdPlace; id: string },
): WireRequest {
  const parameters: Record<string, string> = {};
  for (const place of idPlaces(operation)) {
    if (place.in === 'path') parameters[place.name] = pool.get(place.prefix) ?? absentId(place.prefix);
  }
  if (placed && placed.place.in !== 'body') parameters[placed.place.name] = placed.id;
  const example = exampleBody(operation);
  const { service, ownApps } = operation;
  const existing = (prefix: string) => pool.get(kindOf(service, prefix));
  const known = inPool(ownApps ? inApp(example, pool) : example, existing);
  const body =
    placed?.place.in === 'body' ? withMember(known, placed.place.name.split('.'), placed.id) : known;
  return exampleRequest(operation, example === undefined ? { parameters } : { parameters, body });
}

/** Replaces the app of the examples, the operator's first app, to which other callers do not belong. */
const inApp = (example: unknown, pool: Pool): unknown =>
  isObject(example) && 'app_id' in example ? { ...example, app_id: pool.get('app') } : example;

/** Replaces the ids of the examples. The pool has one thing of a kind: a second one that a body names remains one that does not exist. */
function inPool(
  value: unknown,
  existing: (prefix: string) => string | undefined,
  named = new Map<string, string>(),
): unknown {
  if (Array.isArray(value)) return value.map((item) => inPool(item, existing, named));
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, member]) => [name, inPool(member, existing, named)]);
    return Object.fromEntries(members.filter(([, member]) => member !== undefined));
  }
  const prefix = typeof value === 'string' ? typeId.exec(value)?.[1] : undefined;
  if (prefix === undefined || madeByClients.has(prefix)) return value;
  if (!named.has(prefix)) named.set(prefix, value as string);
  return named.get(prefix) === value ? existing(prefix) : value;
}

/** The reporters of usage records choose their ids; nothing is looked up by these ids. */
const madeByClients = new Set(['kuse']);

/** Returns the value with one member set, and the containers on its path created. */
function withMember(value: unknown, [step, ...rest]: readonly string[], member: unknown): unknown {
  if (step === undefined) return member;
  const items = value === undefined && step === '0' ? [undefined] : value;
  if (Array.isArray(items))
    return items.map((item, at) =>
      String(at) === step ? withMember(item, rest, member) : (item as unknown),
    );
  return { ...(value as object), [step]: withMember((value as Record<string, unknown>)[step], rest, member) };
}

/** Returns every id in a text, with its prefix. */
export const idsIn = (text: string): [id: string, prefix: string][] =>
  [...text.matchAll(/\b([a-z]+)_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g)].map(([id, prefix]) => [id, prefix!]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
