import type { Steps } from '../build.ts';
import { compilePattern } from '../text/pattern.ts';
import type { Condition, Operand, Operator } from './condition.ts';

/** What a condition can read. `undefined` is a missing value. */
export interface Situation {
  readonly names: Readonly<Record<string, unknown>>;
  readonly flags: Readonly<Record<string, boolean>>;
  readonly context: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Tests in steps, because a condition may look at long texts many times. */
export type Test = (situation: Situation) => Steps<boolean>;

/** Longer texts of the context match no pattern, because the search cannot be interrupted. */
const longestMatched = 65_536;

/** The words that have an order, lowest first. */
export const orders = [
  ['info', 'warning', 'error', 'critical'],
  ['allow', 'flag', 'redact', 'block'],
] as const satisfies readonly (readonly string[])[];

/** Whether a value is one of the words that have an order. */
export const isOrdered = (value: unknown): boolean =>
  orders.some((words: readonly unknown[]) => words.includes(value));

/** Compiles a condition. Comparisons with a missing value are false. */
export function compileCondition(condition: Condition): Test {
  switch (condition.op) {
    case 'or':
    case 'and': {
      const tests = condition.terms.map(compileCondition);
      const decisive = condition.op === 'or';
      return function* (situation) {
        for (const test of tests) if ((yield* test(situation)) === decisive) return decisive;
        return !decisive;
      };
    }
    case 'not': {
      const test = compileCondition(condition.term);
      return function* (situation) {
        return !(yield* test(situation));
      };
    }
    case 'flag': {
      const { name } = condition;
      return function* ({ flags }) {
        yield;
        return name === 'true' || flags[name] === true;
      };
    }
    case 'matches': {
      const { left, right } = condition;
      const read = compileOperand(left);
      const covers = compilePattern(right.kind === 'literal' ? String(right.value) : '');
      return function* (situation) {
        const value = read(situation);
        for (const text of Array.isArray(value) ? (value as unknown[]) : [value]) {
          if (typeof text === 'string' && text.length <= longestMatched && covers(text)) return true;
          yield;
        }
        return false;
      };
    }
    default: {
      const left = compileOperand(condition.left);
      const right = compileOperand(condition.right);
      const { op } = condition;
      return function* (situation) {
        const [a, b] = [left(situation), right(situation)];
        yield;
        return a !== undefined && b !== undefined && compares(op, a, b);
      };
    }
  }
}

function compileOperand(operand: Operand): (situation: Situation) => unknown {
  if (operand.kind === 'literal') return () => operand.value;
  if (operand.kind === 'name') return ({ names }) => names[operand.name];
  return (situation) => valueAt(situation[operand.root], operand.path);
}

/** The value at a path, through own members only; undefined when it is missing. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value ?? undefined;
}

/** Whether a comparison of two values that are there is true. */
export function compares(op: Exclude<Operator, 'matches'>, a: unknown, b: unknown): boolean {
  switch (op) {
    case '==':
      return isEqual(a, b);
    case '!=':
      return !isEqual(a, b);
    case 'in':
      return Array.isArray(b) && b.some((member) => isEqual(a, member));
    default: {
      const difference = differenceOf(a, b);
      if (difference === undefined) return false;
      return (
        (op.startsWith('<') && difference < 0) ||
        (op.startsWith('>') && difference > 0) ||
        (op.endsWith('=') && difference === 0)
      );
    }
  }
}

/** Only scalars are equal to anything. */
export const isEqual = (a: unknown, b: unknown) => a === b && typeof a !== 'object';

/** The difference of two numbers, or of two words of one order; undefined when they cannot be compared. */
export function differenceOf(a: unknown, b: unknown): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'string' || typeof b !== 'string') return undefined;
  const order = orders.find((words: readonly string[]) => words.includes(a) && words.includes(b)) as
    readonly string[] | undefined;
  return order && order.indexOf(a) - order.indexOf(b);
}
