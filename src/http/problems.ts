import type { ValidationError } from './operation.ts';
import { clipped } from './clipped.ts';

/**
 * Describes the errors of a validator as `<field>: <problem>`: one sentence for people, with the field as they would write it
 * (`checks[2].action`). `whole` names the value itself when no field is at fault, for example `body`.
 */
export function problem(errors: readonly ValidationError[], whole: string): string {
  const error = mostTelling(errors);
  if (!error) return `${whole}: not valid`;
  const path = fieldPath(error.instancePath);
  const { missingProperty, additionalProperty, unevaluatedProperty } = error.params;
  if (typeof missingProperty === 'string') return `${member(path, missingProperty)}: required`;
  const unknown = additionalProperty ?? unevaluatedProperty;
  if (typeof unknown === 'string') return `${member(path, unknown)}: unknown`;
  return `${path || whole}: ${sayings[error.keyword]?.(error.params) ?? 'not valid'}`;
}

type Params = ValidationError['params'];

/** The message for each keyword of JSON Schema. */
const sayings: Readonly<Record<string, (params: Params) => string>> = {
  type: ({ type }) => `must be ${oneOf(typesOf(type).map((name) => typeNames[name] ?? name))}`,
  enum: ({ allowedValues }) => `must be ${oneOf(shown(list(allowedValues).map(String)))}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  pattern: ({ pattern }) => patternSaying(String(pattern)),
  format: ({ format }) => `must be ${formatNames[String(format)] ?? `a valid ${String(format)}`}`,
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${counted(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${counted(limit, 'character')}`,
  minItems: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${counted(limit, 'entry')}`,
  maxItems: ({ limit }) => `must have at most ${counted(limit, 'entry')}`,
  minProperties: ({ limit }) => `must have at least ${counted(limit, 'member')}`,
  maxProperties: ({ limit }) => `must have at most ${counted(limit, 'member')}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  uniqueItems: ({ i, j }) => `entries ${String(j)} and ${String(i)} are the same`,
  propertyNames: ({ propertyName }) => `${clipped(String(propertyName))} is not a valid member name`,
  anyOf: () => 'matches none of the allowed forms',
  oneOf: () => 'must match exactly one of the allowed forms',
  not: () => 'unknown',
  'false schema': () => 'unknown',
};

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

const formatNames: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-11-20T09:30:00Z',
  date: 'a date such as 2026-11-20',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  uri: 'a URL',
  'uri-reference': 'a URL or path',
  email: 'an email address',
  uuid: 'a UUID',
  byte: 'base64',
  int32: 'a 32-bit integer',
  int64: 'a 64-bit integer',
};

/**
 * For a value that may have several forms, Ajv reports the errors of every form, then `anyOf`. When all forms failed by type,
 * the message lists all types; otherwise the form that matched further tells more than a form that failed at once.
 */
function mostTelling(errors: readonly ValidationError[]): ValidationError | undefined {
  const last = errors.at(-1);
  if (!last || (last.keyword !== 'anyOf' && last.keyword !== 'oneOf')) return errors[0];
  const forms = errors.slice(0, -1).filter(({ instancePath }) => instancePath.startsWith(last.instancePath));
  const further = forms.find(
    ({ keyword, instancePath }) => keyword !== 'type' || instancePath !== last.instancePath,
  );
  if (further || forms.length === 0) return further ?? last;
  return {
    ...last,
    keyword: 'type',
    params: { type: forms.flatMap(({ params }) => typesOf(params['type'])) },
  };
}

/** Converts `/checks/2/action` to `checks[2].action`. */
function fieldPath(pointer: string): string {
  if (pointer === '') return '';
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts.reduce(
    (path, part) => (/^\d+$/.test(part) && path ? `${path}[${part}]` : member(path, part)),
    '',
  );
}

const member = (path: string, name: string) => (path ? `${path}.${clipped(name)}` : clipped(name));

/** For an id's pattern the message names the prefix; other patterns are shown as they are when they are short enough to read. */
function patternSaying(pattern: string): string {
  const prefix = /^\^([a-z][a-z0-9]*_)\[0-7\]\[[^\]]+\]\{25\}\$$/.exec(pattern)?.[1];
  if (prefix !== undefined) return `must be an id that starts with ${prefix}`;
  return pattern.length <= 120 ? `must match ${pattern}` : 'must match the documented pattern';
}

function counted(limit: unknown, noun: string): string {
  if (limit === 1) return `1 ${noun}`;
  return `${String(limit)} ${noun === 'entry' ? 'entries' : `${noun}s`}`;
}

/** A message lists only the first of many values; the contract has them all. */
const shown = (values: readonly string[]): string[] =>
  values.length <= 20 ? [...values] : [...values.slice(0, 12), `one of ${values.length - 12} others`];

function oneOf(words: readonly string[]): string {
  const distinct = [...new Set(words)];
  const last = distinct.pop() ?? 'something else';
  return distinct.length === 0 ? last : `${distinct.join(', ')} or ${last}`;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const typesOf = (type: unknown): string[] => list(type).flatMap((name) => String(name).split(','));
