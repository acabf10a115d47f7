import { clipped } from './clipped.ts';
import type { Places } from './operation.ts';
import { placesInItems, placesInMember } from './places.ts';

/** An open array or object, and the position of the scan in it. */
interface Level {
  /** The member or item that the scan is at. */
  at: string | number;
  /** The names in an object so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** Whether the next string is a name. */
  awaitsName: boolean;
  /** The exact numbers in it. */
  readonly exact: Places | undefined;
}

/**
 * Finds what parsing would lose in a valid JSON text, as `<field>: <problem>`: a repeated name, of which only the last would
 * count, or a number that a double cannot represent. Returns undefined when nothing would be lost. The numbers at the places
 * `exactNumbers` must not even be rounded.
 */
export function jsonObjection(text: string, exactNumbers?: Places): string | undefined {
  const open: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const level = open.at(-1);
    const character = text[at]!;
    if (character === '"') {
      const end = endOfText(text, at);
      if (level?.names && level.awaitsName) {
        const name = JSON.parse(text.slice(at, end)) as string;
        level.at = name;
        if (level.names.has(name)) return `${pathOf(open)}: given more than once`;
        level.names.add(name);
        level.awaitsName = false;
      }
      at = end - 1;
    } else if (character === '{')
      open.push({ at: '', names: new Set(), awaitsName: true, exact: exactAt(level, exactNumbers) });
    else if (character === '[')
      open.push({ at: 0, names: undefined, awaitsName: false, exact: exactAt(level, exactNumbers) });
    else if (character === '}' || character === ']') open.pop();
    else if (character === ',') goOn(level!);
    else if (numeric.test(character)) {
      const literal = literalAt(text, at);
      const problem = numberProblem(literal, exactAt(level, exactNumbers) === true);
      if (problem !== undefined) return `${pathOf(open)}: ${problem}`;
      at += literal.length - 1;
    }
  }
  return undefined;
}

const numeric = /[-\d]/;

/** The exact numbers in the value that the scan is at. */
function exactAt(level: Level | undefined, whole: Places | undefined): Places | undefined {
  if (level === undefined) return whole;
  const { at, exact } = level;
  if (exact === undefined) return undefined;
  return typeof at === 'number' ? placesInItems(exact) : placesInMember(exact, at);
}

function goOn(level: Level): void {
  if (typeof level.at === 'number') level.at++;
  else level.awaitsName = true;
}

/** The index after the closing quote. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function literalAt(text: string, start: number): string {
  const literal = /[-+.eE\d]+/y;
  literal.lastIndex = start;
  return literal.exec(text)![0];
}

/** Why a double cannot represent the literal; ordinary rounding of decimals is only a problem of a number that is exact. */
function numberProblem(literal: string, isExact: boolean): string | undefined {
  const value = Number(literal);
  if (!Number.isFinite(value)) return `must be a number of at most ${Number.MAX_VALUE} in size`;
  if (value === 0 && /^[^eE]*[1-9]/.test(literal))
    return `must be 0 or a number of at least ${Number.MIN_VALUE} in size`;
  if (/^-?\d+$/.test(literal) && !Number.isSafeInteger(value) && digitsOf(value) !== literal)
    return `must be an integer of at most ${Number.MAX_SAFE_INTEGER} in size, a larger one loses digits`;
  if (isExact && significantDigits(literal) > exactDigits)
    return `more than ${exactDigits} significant digits`;
  return undefined;
}

/** Numbers with this many significant digits survive the way through a double. */
const exactDigits = 15;

/** Zeros before the first and after the last other digit do not count. */
function significantDigits(literal: string): number {
  const [digits = ''] = literal.replaceAll(/[-.]/g, '').split(/[eE]/);
  const first = digits.search(/[1-9]/);
  if (first < 0) return 0;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return end - first;
}

/** Writes an integer without an exponent, padding its shortest digits with zeros. */
function digitsOf(value: number): string {
  const [mantissa = '', exponent] = value.toExponential().split('e');
  const sign = value < 0 ? '-' : '';
  return sign + mantissa.replaceAll(/[-.]/g, '').padEnd(Number(exponent) + 1, '0');
}

function pathOf(open: readonly Level[]): string {
  const path = open.reduce(
    (before, { at }) =>
      typeof at === 'number' ? `${before}[${at}]` : before ? `${before}.${clipped(at)}` : clipped(at),
    '',
  );
  return path || 'body';
}
