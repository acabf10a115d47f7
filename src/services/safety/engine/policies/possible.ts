import { Invalid } from '../../../../lib/errors.ts';
import { compilePattern } from '../text/pattern.ts';
import type { Comparison, Condition, Operand } from './condition.ts';
import { compares, differenceOf, isOrdered, orders } from './evaluation.ts';

/** What a name can be: one of some words, or a number in a range. */
type Domain =
  | { readonly kind: 'word'; readonly words: readonly string[]; readonly mayBeMissing?: boolean }
  | {
      readonly kind: 'number';
      readonly most: number;
      readonly isWhole: boolean;
      readonly mayBeMissing?: boolean;
    };

const [severities, decisions] = orders;
const counted: Domain = { kind: 'number', most: Infinity, isWhole: true };

const domains: Readonly<Record<string, Domain>> = {
  severity: { kind: 'word', words: severities, mayBeMissing: true },
  decision: { kind: 'word', words: decisions },
  direction: { kind: 'word', words: ['input', 'output'] },
  score: { kind: 'number', most: 1, isWhole: false, mayBeMissing: true },
  count: counted,
  pii_count: counted,
  text_length: counted,
};

const lists: ReadonlySet<string> = new Set(['types', 'sources']);

/**
 * Refuses a condition that can never be true, as a whole or in a part: one that compares with a word that does not exist, or values that
 * cannot be compared, or that contradicts itself about a name. It does not find everything: what two names say of each other is not known.
 * @throws Invalid('<field>: <problem> at <position>')
 */
export function checkPossible(condition: Condition, field: string): void {
  for (const comparison of comparisonsIn(condition)) {
    const problem = problemOf(comparison);
    if (problem !== undefined) throw Invalid(`${field}: ${problem} at ${comparison.at + 1}`);
  }
  for (const part of [condition, ...conjunctionsIn(condition)])
    for (const name of ['', ...namesIn(part)])
      if (!samplesOf(name, part).some((value) => outcomesOf(part, name, value).canBeTrue))
        throw Invalid(`${field}: can never be true${name === '' ? '' : `, whatever ${name} is`}`);
}

/** The comparisons of a condition, in their order. */
export function comparisonsIn(condition: Condition): Comparison[] {
  switch (condition.op) {
    case 'or':
    case 'and':
      return condition.terms.flatMap(comparisonsIn);
    case 'not':
      return comparisonsIn(condition.term);
    case 'flag':
      return [];
    default:
      return [condition];
  }
}

/** What is joined by `and` somewhere in an alternative. */
function conjunctionsIn(condition: Condition): Condition[] {
  if (condition.op === 'and') return [condition, ...condition.terms.flatMap(conjunctionsIn)];
  return condition.op === 'or' ? condition.terms.flatMap(conjunctionsIn) : [];
}

/** Why a comparison is never true, or compares with what its name never is. */
function problemOf({ op, left, right }: Comparison): string | undefined {
  if (op === 'matches') return problemOfPattern(left, right);
  if (op === 'in') return problemOfMembership(left, right);
  const isOrder = op !== '==' && op !== '!=';
  const list = [left, right].find(isList);
  if (list !== undefined) return `${shown(list)} is a list, in which "in" looks for a value`;
  const problem = problemOfPair(left, right, isOrder) ?? problemOfPair(right, left, isOrder);
  if (problem !== undefined) return problem;
  for (const one of [left, right]) {
    if (isOrder && !mayBeOrdered(one))
      return `${shown(one)} has no order: only numbers and the words of severity and decision have one`;
  }
  return undefined;
}

/** The problem of a name that is compared with something else. */
function problemOfPair(name: Operand, other: Operand, isOrder: boolean): string | undefined {
  const domain = domainOf(name);
  const target = domainOf(other);
  if (domain !== undefined && target !== undefined) {
    const isComparable =
      domain.kind === 'number'
        ? target.kind === 'number'
        : target.kind === 'word' && domain.words.some((word) => target.words.includes(word));
    return isComparable ? undefined : `${shown(name)} is never ${shown(other)}`;
  }
  if (other.kind !== 'literal') return undefined;
  const { value } = other;
  if (domain?.kind === 'word')
    return domain.words.includes(value as string)
      ? undefined
      : `${shown(name)} is ${domain.words.join(', ')}, never ${shown(other)}`;
  if (domain?.kind === 'number')
    return typeof value === 'number' ? undefined : `${shown(name)} is a number, never ${shown(other)}`;
  if (isText(name) && typeof value !== 'string') return `${shown(name)} is text, never ${shown(other)}`;
  if (isOrder && name.kind === 'literal' && differenceOf(name.value, value) === undefined)
    return `${shown(name)} and ${shown(other)} are not in one order`;
  return undefined;
}

function problemOfPattern(left: Operand, right: Operand): string | undefined {
  const domain = domainOf(left);
  const covers = compilePattern(right.kind === 'literal' ? String(right.value) : '');
  if (domain?.kind === 'number') return `${shown(left)} is a number, which matches no pattern`;
  if (domain?.kind === 'word' && !domain.words.some(covers))
    return `${shown(left)} is ${domain.words.join(', ')}, never ${shown(right)}`;
  return undefined;
}

function problemOfMembership(left: Operand, right: Operand): string | undefined {
  if (isList(left)) return `${shown(left)} is a list, which is in no list`;
  if (!isList(right) && right.kind !== 'path') return `"in" looks into a list, and ${shown(right)} is none`;
  if (right.kind === 'name') {
    const isNever =
      domainOf(left)?.kind === 'number' || (left.kind === 'literal' && typeof left.value !== 'string');
    return isNever ? `${shown(right)} holds text, never ${shown(left)}` : undefined;
  }
  if (right.kind !== 'literal') return undefined;
  for (const value of right.value as readonly (string | number | boolean)[]) {
    const problem = problemOfPair(left, { kind: 'literal', value }, false);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const domainOf = (operand: Operand): Domain | undefined =>
  operand.kind === 'name' ? domains[operand.name] : undefined;

const isList = (operand: Operand): boolean =>
  operand.kind === 'name'
    ? lists.has(operand.name)
    : operand.kind === 'literal' && Array.isArray(operand.value);

const isText = (operand: Operand): boolean => operand.kind === 'name' && operand.name === 'user_id';

function mayBeOrdered(operand: Operand): boolean {
  if (operand.kind === 'path') return true;
  if (operand.kind === 'literal') return typeof operand.value === 'number' || isOrdered(operand.value);
  const domain = domains[operand.name];
  return domain?.kind === 'number' || (domain?.kind === 'word' && domain.words.every(isOrdered));
}

function shown(operand: Operand): string {
  if (operand.kind === 'name') return operand.name;
  if (operand.kind === 'path') return [operand.root, ...operand.path].join('.');
  return JSON.stringify(operand.value);
}

/** The names with a domain that a condition has. */
const namesIn = (condition: Condition): string[] => [
  ...new Set(
    comparisonsIn(condition)
      .flatMap(({ left, right }) => [left, right])
      .flatMap((operand) =>
        domainOf(operand) !== undefined && operand.kind === 'name' ? [operand.name] : [],
      ),
  ),
];

/** Values of a name among which there is one of each that the condition tells apart. */
function samplesOf(name: string, condition: Condition): unknown[] {
  const domain = domains[name];
  if (domain === undefined) return [undefined];
  const missing = domain.mayBeMissing ? [undefined] : [];
  if (domain.kind === 'word') return [...domain.words, ...missing];
  const bounds = numbersIn(condition).filter((bound) => bound >= 0 && bound <= domain.most);
  const ends = [0, ...bounds, Math.min(domain.most, Math.max(0, ...bounds) + 2)].sort((a, b) => a - b);
  const between = ends.slice(1).map((end, index) => (ends[index]! + end) / 2);
  const all = domain.isWhole
    ? ends.flatMap((end) => [
        Math.floor(end),
        Math.ceil(end),
        Math.floor(end) + 1,
        Math.max(0, Math.ceil(end) - 1),
      ])
    : [...ends, ...between];
  return [...all, ...missing];
}

const numbersIn = (condition: Condition): number[] =>
  comparisonsIn(condition)
    .flatMap(({ left, right }) => [left, right])
    .flatMap((operand) => (operand.kind === 'literal' ? [operand.value].flat() : []))
    .filter((value) => typeof value === 'number');

interface Outcomes {
  readonly canBeTrue: boolean;
  readonly canBeFalse: boolean;
}

const unknown: Outcomes = { canBeTrue: true, canBeFalse: true };

/** What a condition can be when one name has this value and nothing is known of the others. */
function outcomesOf(condition: Condition, name: string, value: unknown): Outcomes {
  switch (condition.op) {
    case 'and': {
      const terms = condition.terms.map((term) => outcomesOf(term, name, value));
      return {
        canBeTrue: terms.every(({ canBeTrue }) => canBeTrue),
        canBeFalse: terms.some(({ canBeFalse }) => canBeFalse),
      };
    }
    case 'or': {
      const terms = condition.terms.map((term) => outcomesOf(term, name, value));
      return {
        canBeTrue: terms.some(({ canBeTrue }) => canBeTrue),
        canBeFalse: terms.every(({ canBeFalse }) => canBeFalse),
      };
    }
    case 'not': {
      const { canBeTrue, canBeFalse } = outcomesOf(condition.term, name, value);
      return { canBeTrue: canBeFalse, canBeFalse: canBeTrue };
    }
    case 'flag':
      return condition.name === 'true' ? { canBeTrue: true, canBeFalse: false } : unknown;
    default:
      return outcomeOf(condition, name, value);
  }
}

function outcomeOf({ op, left, right }: Comparison, name: string, value: unknown): Outcomes {
  const [a, b] = [valueOf(left, name, value), valueOf(right, name, value)];
  if (a === unknown || b === unknown) return unknown;
  const isTrue = a !== undefined && b !== undefined && holds(op, a, b);
  return { canBeTrue: isTrue, canBeFalse: !isTrue };
}

function valueOf(operand: Operand, name: string, value: unknown): unknown {
  if (operand.kind === 'literal') return operand.value;
  return operand.kind === 'name' && operand.name === name ? value : unknown;
}

function holds(op: Comparison['op'], a: unknown, b: unknown): boolean {
  if (op !== 'matches') return compares(op, a, b);
  return [a].flat().some((text) => typeof text === 'string' && compilePattern(String(b))(text));
}
