import { clipped } from './clipped.ts';

/** An open array or object, and the position of the scan in it. */
interface Level {
  /** The member or item that the scan is at. */
  at: string | number;
  /** The names in an object so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** Whether the next string is a name. */
  awaitsName: boolean;
}

/**
 * Finds what parsing would lose in a valid JSON text, as `<field>: <problem>`: a repeated name, of which only the last would
 * count, or a number that a double cannot represent. Returns undefined when nothing would be lost.
 */
export function jsonObjection(text: string): string | undefined {
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
    } else if (character === '{') open.push({ at: '', names: new Set(), awaitsName: true });
    else if (character === '[') open.push({ at: 0, names: undefined, awaitsName: false });
    else if (character === '}' || character === ']') open.pop();
    else if (character === ',') goOn(level!);
    else if (numeric.test(character)) {
      const literal = literalAt(text, at);
      const problem = numberProblem(literal);
      if (problem !== undefined) return `${pathOf(open)}: ${problem}`;
      at += literal.length - 1;
    }
  }
  return undefined;
}

const numeric = /[-\d]/;

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

/** Why a double cannot represent the literal; ordinary rounding of decimals is not a problem. */
function numberProblem(literal: string): string | undefined {
  const value = Number(literal);
  if (!Number.isFinite(value)) return `must be a number of at most ${Number.MAX_VALUE} in size`;
  if (value === 0 && /^[^eE]*[1-9]/.test(literal))
    return `must be 0 or a number of at least ${Number.MIN_VALUE} in size`;
  if (/^-?\d+$/.test(literal) && !Number.isSafeInteger(value) && digitsOf(value) !== literal)
    return `must be an integer of at most ${Number.MAX_SAFE_INTEGER} in size, a larger one loses digits`;
  return undefined;
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
