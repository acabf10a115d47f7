import { RE2JS } from 're2js';
import { Invalid } from '../../../lib/errors.ts';
import { compileField, fieldProblem } from './fields.ts';
import type { Field, Situation } from './fields.ts';
import { isInside, parseNetworks } from './networks.ts';
import { isZone, parseInstant, parseTimeOfDay, timeOfDay } from './times.ts';
import type { Condition } from './types.ts';

/** A compiled condition. It cannot fail: what is wrong with a value was said on write, what is wrong with a field is false. */
export type Test = (situation: Situation) => boolean;

/** Compiles one operand pair: given the value once, answers for each field value. Null: the value does not fit. */
type Operator = (value: unknown, zone: string) => ((field: unknown) => boolean) | null;

interface OperatorRule {
  readonly compile: Operator;
  /** What a value must be, for the message of a 400. */
  readonly expects: string;
  /** Whether `{"field": …}` may stand for the value. */
  readonly reference: boolean;
}

const MAX_VALUE = 4_096;
const MAX_SUBJECT = 4_096;
/** Something of every common kind: a match makes its automaton on the way, which the first check should find made. */
const WARM_UP = 'Some.User-42+x_y@example.com /päth/to?q=1#日本';

export function compileCondition(condition: Condition): Test {
  const rule = ruleOf(condition.operator);
  const field = compileField(condition.field);
  const zone = condition.timezone ?? 'UTC';
  const reference = rule.reference ? referenceOf(condition.value) : undefined;
  if (reference === undefined) {
    const test = rule.compile(condition.value, zone);
    return test === null ? () => false : (situation) => test(field(situation));
  }
  const negated = NEGATIONS.get(condition.operator);
  if (negated !== undefined) {
    const test = compileCondition({ ...condition, operator: negated });
    return (situation) => !test(situation);
  }
  const other: Field = compileField(reference);
  return (situation) => {
    const value = other(situation);
    return value !== undefined && (rule.compile(value, zone)?.(field(situation)) ?? false);
  };
}

/** Judges the conditions of a policy on write; throws `Invalid('conditions[0].value: …')`. */
export function checkConditions(conditions: readonly Condition[]): void {
  if (conditions.length > 32) throw Invalid('conditions: more than 32');
  conditions.forEach((condition, index) => checkCondition(condition, `conditions[${index}]`));
}

function checkCondition({ field, operator, value, timezone }: Condition, at: string): void {
  const problem = fieldProblem(field);
  if (problem !== undefined) throw Invalid(`${at}.field: ${problem}`);
  const rule = OPERATORS.get(operator);
  if (rule === undefined) throw Invalid(`${at}.operator: unknown operator "${operator}"`);
  if (timezone !== undefined && timezone !== null && !isZone(timezone)) {
    throw Invalid(`${at}.timezone: unknown time zone`);
  }
  if (value !== undefined && Buffer.byteLength(JSON.stringify(value)) > MAX_VALUE) {
    throw Invalid(`${at}.value: longer than 4 KiB`);
  }
  const reference = referenceOf(value);
  if (reference !== undefined && rule.reference) {
    const wrong = fieldProblem(reference);
    if (wrong !== undefined) throw Invalid(`${at}.value.field: ${wrong}`);
  } else if (rule.compile(value, timezone ?? 'UTC') === null) {
    throw Invalid(`${at}.value: expected ${rule.expects}`);
  }
}

/** The field named by `{"field": "…"}`; undefined for every other value. */
function referenceOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const [entry, ...more] = Object.entries(value);
  return entry?.[0] === 'field' && typeof entry[1] === 'string' && more.length === 0 ? entry[1] : undefined;
}

function ruleOf(operator: string): OperatorRule {
  const rule = OPERATORS.get(operator);
  if (rule === undefined) throw Invalid(`unknown operator "${operator}"`);
  return rule;
}

const NEGATIONS: ReadonlyMap<string, string> = new Map([
  ['neq', 'eq'],
  ['not_in', 'in'],
]);

const equals: Operator = (value) => (value === undefined ? null : (field) => deepEqual(field, value));

const isAmong: Operator = (value) => {
  if (!Array.isArray(value) || value.length > 1_000) return null;
  const plain = new Set<unknown>(value);
  const nested = value.filter((entry) => typeof entry === 'object' && entry !== null);
  const contains = (one: unknown) =>
    typeof one === 'object' && one !== null ? nested.some((entry) => deepEqual(one, entry)) : plain.has(one);
  return (field) =>
    field !== undefined && (Array.isArray(field) ? contains(field) || field.some(contains) : contains(field));
};

const contains: Operator = (value) => {
  if (value === undefined) return null;
  return (field) =>
    typeof field === 'string'
      ? typeof value === 'string' && field.includes(value)
      : Array.isArray(field) && field.some((element) => deepEqual(element, value));
};

const ofStrings =
  (holds: (field: string, value: string) => boolean): Operator =>
  (value) =>
    typeof value === 'string' ? (field) => typeof field === 'string' && holds(field, value) : null;

const ofNumbers =
  (holds: (field: number, value: number) => boolean): Operator =>
  (value) =>
    typeof value === 'number' ? (field) => typeof field === 'number' && holds(field, value) : null;

const ofAddresses =
  (wanted: boolean): Operator =>
  (value) => {
    const texts: unknown[] = Array.isArray(value) ? value : [value];
    const networks = texts.length === 0 || texts.length > 256 ? undefined : parseNetworks(texts);
    if (networks === undefined) return null;
    return (field) => typeof field === 'string' && isInside(networks, field) === wanted;
  };

/** The value is an instant or a time of day; the field is brought to the same kind, or the operator is false. */
const ofTimes =
  (holds: (field: number, value: number) => boolean): Operator =>
  (value, zone) => {
    if (typeof value !== 'string') return null;
    const instant = parseInstant(value);
    if (instant !== undefined) return (field) => compareTime(instantOf(field), instant, holds);
    const daily = parseTimeOfDay(value);
    return daily === undefined ? null : (field) => compareTime(timeOfDayOf(field, zone), daily, holds);
  };

const isBetween: Operator = (value, zone) => {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const from: unknown = value[0];
  const to: unknown = value[1];
  if (typeof from !== 'string' || typeof to !== 'string') return null;
  const [start, end] = [parseTimeOfDay(from), parseTimeOfDay(to)];
  if (start !== undefined && end !== undefined) {
    const inside = (t: number) => (start <= end ? start <= t && t < end : t >= start || t < end);
    return (field) => compareTime(timeOfDayOf(field, zone), 0, inside);
  }
  const [first, last] = [parseInstant(from), parseInstant(to)];
  if (first === undefined || last === undefined) return null;
  return (field) => compareTime(instantOf(field), 0, (t) => first <= t && t < last);
};

const matchesRegex: Operator = (value) => {
  if (typeof value !== 'string' || value.length > 256) return null;
  try {
    const regex = RE2JS.compile(value);
    if (regex.programSize() > 1_000) return null;
    regex.test(WARM_UP);
    return (field) => typeof field === 'string' && field.length <= MAX_SUBJECT && regex.test(field);
  } catch {
    return null;
  }
};

const not =
  (operator: Operator): Operator =>
  (value, zone) => {
    const test = operator(value, zone);
    return test === null ? null : (field) => !test(field);
  };

const exists: Operator = () => (field) => field !== undefined && field !== null;

const TIME = 'an RFC 3339 time or HH:MM[:SS]';
const NETWORKS = 'a CIDR block or 1-256 of them';
const rule = (compile: Operator, expects: string, reference = true): OperatorRule => ({
  compile,
  expects,
  reference,
});

const OPERATORS: ReadonlyMap<string, OperatorRule> = new Map([
  ['eq', rule(equals, 'a value')],
  ['neq', rule(not(equals), 'a value')],
  ['in', rule(isAmong, 'an array of at most 1000')],
  ['not_in', rule(not(isAmong), 'an array of at most 1000')],
  ['contains', rule(contains, 'a value')],
  [
    'starts_with',
    rule(
      ofStrings((field, value) => field.startsWith(value)),
      'a string',
    ),
  ],
  [
    'ends_with',
    rule(
      ofStrings((field, value) => field.endsWith(value)),
      'a string',
    ),
  ],
  [
    'gt',
    rule(
      ofNumbers((field, value) => field > value),
      'a number',
    ),
  ],
  [
    'gte',
    rule(
      ofNumbers((field, value) => field >= value),
      'a number',
    ),
  ],
  [
    'lt',
    rule(
      ofNumbers((field, value) => field < value),
      'a number',
    ),
  ],
  [
    'lte',
    rule(
      ofNumbers((field, value) => field <= value),
      'a number',
    ),
  ],
  ['exists', rule(exists, 'nothing', false)],
  ['not_exists', rule(not(exists), 'nothing', false)],
  ['ip_in_cidr', rule(ofAddresses(true), NETWORKS)],
  ['ip_not_in_cidr', rule(ofAddresses(false), NETWORKS)],
  [
    'time_after',
    rule(
      ofTimes((field, value) => field > value),
      TIME,
    ),
  ],
  [
    'time_before',
    rule(
      ofTimes((field, value) => field < value),
      TIME,
    ),
  ],
  ['time_between', rule(isBetween, 'two times of day or two RFC 3339 times')],
  // A pattern out of the caller's attributes would be compiled on every check.
  [
    'regex',
    rule(matchesRegex, 'an RE2 expression of at most 256 characters and a program of at most 1000', false),
  ],
]);

function compareTime(
  field: number | undefined,
  value: number,
  holds: (field: number, value: number) => boolean,
): boolean {
  return field !== undefined && holds(field, value);
}

const instantOf = (field: unknown) => (typeof field === 'string' ? parseInstant(field) : undefined);

function timeOfDayOf(field: unknown, zone: string): number | undefined {
  if (typeof field !== 'string') return undefined;
  const instant = parseInstant(field);
  return instant === undefined ? parseTimeOfDay(field) : timeOfDay(instant, zone);
}

/** Equality of JSON values: no coercion, members in any order. */
function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((element, index) => deepEqual(element, b[index]));
  }
  const entries = Object.entries(a);
  if (entries.length !== Object.keys(b).length) return false;
  return entries.every(([key, value]) => Object.hasOwn(b, key) && deepEqual(value, Reflect.get(b, key)));
}
