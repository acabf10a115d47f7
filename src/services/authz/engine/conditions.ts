import { Invalid } from '../../../lib/errors.ts';
import { compileField, fieldProblem } from './fields.ts';
import type { Field, Situation } from './fields.ts';
import { areEqual, membersOf, textOf } from './json-values.ts';
import { indexOfPart } from './pattern.ts';
import { canonicalRange, compileRanges } from '../../../lib/addresses.ts';
import { costOfMatch, isFound, sizeOfRegex } from '../../../lib/regexes.ts';
import { isZone, parseInstant, parseTimeOfDay, timeOfDay } from './times.ts';
import type { Condition } from './types.ts';

/** A compiled condition. It cannot fail: a malformed value was rejected on write, and an unsuitable field makes it false. */
export type Test = (situation: Situation) => boolean;

/** Tests the value of a field and adds the value's size to the situation's work. */
type FieldTest = (field: unknown, situation: Situation) => boolean;

/** Compiles an operator for a value into a test of field values. Returns null when the value does not fit the operator. */
type Operator = (value: unknown, zone: string) => FieldTest | null;

interface OperatorRule {
  readonly compile: Operator;
  /** Describes the expected value, for the message of a 400. */
  readonly expects: string;
  /** Whether `{"field": …}` may stand for the value. */
  readonly reference: boolean;
  /** Maximum number of elements in a value. */
  readonly longest: number | undefined;
}

const longestValue = 4_096;
const mostValues = 1_000;
const mostNetworks = 256;
/** Cost, in units of `Request.spend`, of a condition, of compiling its test, and of a time of day in a zone or a set of networks. */
const conditionWork = 50;
const compileWork = 20_000;
const costlyWork = 2_000;

/** Returns a condition that is compiled on its first evaluation: a tenant may have very many, and most are never evaluated. */
export function lazyCondition(condition: Condition): Test {
  let test: Test | undefined;
  return (situation) => {
    situation.work += conditionWork;
    if (test === undefined) {
      situation.work += compileWork;
      test = compileCondition(condition);
    }
    return test(situation);
  };
}

export function compileCondition(condition: Condition): Test {
  const rule = ruleOf(condition.operator);
  const field = compileField(condition.field);
  const zone = condition.timezone ?? 'UTC';
  const reference = rule.reference ? referenceOf(condition.value) : undefined;
  if (reference === undefined) {
    const test = rule.compile(condition.value, zone);
    return test === null ? () => false : (situation) => test(field(situation), situation);
  }
  const negated = negations.get(condition.operator);
  if (negated !== undefined) {
    const test = compileCondition({ ...condition, operator: negated });
    return (situation) => !test(situation);
  }
  const other: Field = compileField(reference);
  return (situation) => {
    const value = other(situation);
    if (value === undefined) return false;
    situation.work += costlyWork;
    // No check on write saw this value. Whether a comparison with a value that is too long holds is unknown, which is more than
    // false.
    if (Array.isArray(value) && value.length > (rule.longest ?? Infinity)) situation.isTooLong = true;
    return rule.compile(value, zone)?.(field(situation), situation) ?? false;
  };
}

/** Checks the conditions of a policy on write. @throws Invalid('conditions[0].value: …') */
export function checkConditions(conditions: readonly Condition[]): void {
  for (const _ of judgeConditions(conditions));
}

/** Does the same as `checkConditions`, with a pause after each condition, since an expression may take long to compile. */
export function* judgeConditions(conditions: readonly Condition[]): Generator<undefined, void, undefined> {
  if (conditions.length > 32) throw Invalid('conditions: more than 32');
  for (const [index, condition] of conditions.entries()) {
    checkCondition(condition, `conditions[${index}]`);
    yield;
  }
}

/** Returns the number of instructions in the compiled programs of all expressions in the conditions. */
export function regexSize(conditions: readonly Condition[]): number {
  const sizes = conditions.map(({ operator, value }) =>
    operator === 'regex' && typeof value === 'string' ? (sizeOfRegex(value) ?? 0) : 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function checkCondition({ field, operator, value, timezone }: Condition, at: string): void {
  const problem = fieldProblem(field);
  if (problem !== undefined) throw Invalid(`${at}.field: ${problem}`);
  const rule = operators.get(operator);
  if (rule === undefined) throw Invalid(`${at}.operator: unknown operator "${operator}"`);
  if (timezone !== undefined && timezone !== null && !isZone(timezone)) {
    throw Invalid(`${at}.timezone: unknown time zone`);
  }
  if (value !== undefined && Buffer.byteLength(JSON.stringify(value)) > longestValue) {
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

/** Returns the field named by `{"field": "…"}`, or undefined for every other value. */
function referenceOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const [entry, ...more] = Object.entries(value);
  return entry?.[0] === 'field' && typeof entry[1] === 'string' && more.length === 0 ? entry[1] : undefined;
}

function ruleOf(operator: string): OperatorRule {
  const rule = operators.get(operator);
  if (rule === undefined) throw Invalid(`unknown operator "${operator}"`);
  return rule;
}

const negations: ReadonlyMap<string, string> = new Map([
  ['neq', 'eq'],
  ['not_in', 'in'],
]);

const equals: Operator = (value) =>
  value === undefined ? null : (field, situation) => areEqual(field, weighed(value, situation));

/** Adds the cost of reading a value. Texts of objects are built once, so they cost little. */
function weighed(value: unknown, situation: Situation): unknown {
  if (typeof value === 'string') situation.work += value.length;
  return value;
}

const isAmong: Operator = (value) => {
  if (!Array.isArray(value) || value.length > mostValues) return null;
  const values = membersOf(value);
  return (field, situation) => {
    if (field === undefined) return false;
    if (!Array.isArray(field)) return values.has(textOf(field));
    situation.work += 20 * Math.min(field.length, values.size);
    if (values.has(textOf(field))) return true;
    const [fewer, more] =
      field.length < values.size ? [membersOf(field), values] : [values, membersOf(field)];
    for (const one of fewer) if (more.has(one)) return true;
    return false;
  };
};

const contains: Operator = (value) => {
  if (value === undefined) return null;
  return (field, situation) => {
    if (Array.isArray(field)) return membersOf(field).has(textOf(value));
    if (typeof field !== 'string' || typeof value !== 'string') return false;
    situation.work += field.length + value.length;
    return indexOfPart(field, value, 0) >= 0;
  };
};

const ofStrings =
  (holds: (field: string, value: string) => boolean): Operator =>
  (value) =>
    typeof value === 'string'
      ? (field, situation) => typeof field === 'string' && holds(field, String(weighed(value, situation)))
      : null;

const ofNumbers =
  (holds: (field: number, value: number) => boolean): Operator =>
  (value) =>
    typeof value === 'number' ? (field) => typeof field === 'number' && holds(field, value) : null;

const ofAddresses =
  (wanted: boolean): Operator =>
  (value) => {
    const texts: unknown[] = Array.isArray(value) ? value : [value];
    if (texts.length === 0 || texts.length > mostNetworks || !texts.every(isRange)) return null;
    const isInside = compileRanges(texts);
    return (field, situation) => {
      situation.work += costlyWork;
      return typeof field === 'string' && isInside(field) === wanted;
    };
  };

const isRange = (text: unknown): text is string =>
  typeof text === 'string' && canonicalRange(text) !== undefined;

/** Compares an instant or a time of day. The field is converted to the same kind of time; when that fails, the operator is false. */
const ofTimes =
  (holds: (field: number, value: number) => boolean): Operator =>
  (value, zone) => {
    if (typeof value !== 'string') return null;
    const instant = parseInstant(value);
    if (instant !== undefined) return (field) => compareTime(instantOf(field), instant, holds);
    const daily = parseTimeOfDay(value);
    if (daily === undefined) return null;
    return (field, situation) => {
      situation.work += costlyWork;
      return compareTime(timeOfDayOf(field, zone), daily, holds);
    };
  };

const isBetween: Operator = (value, zone) => {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const from: unknown = value[0];
  const to: unknown = value[1];
  if (typeof from !== 'string' || typeof to !== 'string') return null;
  const [start, end] = [parseTimeOfDay(from), parseTimeOfDay(to)];
  if (start !== undefined && end !== undefined) {
    const inside = (t: number) => (start <= end ? start <= t && t < end : t >= start || t < end);
    return (field, situation) => {
      situation.work += costlyWork;
      return compareTime(timeOfDayOf(field, zone), 0, inside);
    };
  }
  const [first, last] = [parseInstant(from), parseInstant(to)];
  if (first === undefined || last === undefined) return null;
  return (field) => compareTime(instantOf(field), 0, (t) => first <= t && t < last);
};

const matchesRegex: Operator = (value) => {
  if (typeof value !== 'string') return null;
  const size = sizeOfRegex(value);
  if (size === undefined) return null;
  return (field, situation) => {
    if (typeof field !== 'string') return false;
    const cost = costOfMatch(size, field);
    if (cost === undefined) {
      situation.isTooLong = true;
      return false;
    }
    situation.work += cost >> 2;
    return isFound(value, field, cost);
  };
};

const not =
  (operator: Operator): Operator =>
  (value, zone) => {
    const test = operator(value, zone);
    return test === null ? null : (field, situation) => !test(field, situation);
  };

const exists: Operator = () => (field) => field !== undefined && field !== null;

const timeForm = 'an RFC 3339 time or HH:MM[:SS]';
const networksForm = 'a CIDR block or 1-256 of them';
const rule = (
  compile: Operator,
  expects: string,
  { reference = true, longest }: { reference?: boolean; longest?: number } = {},
): OperatorRule => ({ compile, expects, reference, longest });

const operators: ReadonlyMap<string, OperatorRule> = new Map([
  ['eq', rule(equals, 'a value')],
  ['neq', rule(not(equals), 'a value')],
  ['in', rule(isAmong, 'an array of at most 1000', { longest: mostValues })],
  ['not_in', rule(not(isAmong), 'an array of at most 1000', { longest: mostValues })],
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
  ['exists', rule(exists, 'nothing', { reference: false })],
  ['not_exists', rule(not(exists), 'nothing', { reference: false })],
  ['ip_in_cidr', rule(ofAddresses(true), networksForm, { longest: mostNetworks })],
  ['ip_not_in_cidr', rule(ofAddresses(false), networksForm, { longest: mostNetworks })],
  [
    'time_after',
    rule(
      ofTimes((field, value) => field > value),
      timeForm,
    ),
  ],
  [
    'time_before',
    rule(
      ofTimes((field, value) => field < value),
      timeForm,
    ),
  ],
  ['time_between', rule(isBetween, 'two times of day or two RFC 3339 times')],
  // A pattern taken from the caller's attributes would be compiled on every check.
  [
    'regex',
    rule(matchesRegex, 'an RE2 expression of at most 256 characters and a program of at most 1000', {
      reference: false,
    }),
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
