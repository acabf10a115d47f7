import { RE2JS } from 're2js';
import { unrolledSize } from './regex-size.ts';

/** The most characters of an expression, and the most instructions of its compiled program. */
const mostCharacters = 256;
const mostInstructions = 1_000;
/** The most atoms of an expression that is compiled: only compiling finds the program size, and it cannot be interrupted. */
const mostAtoms = 4_000;
/**
 * The most instructions × characters of one match. A match cannot be interrupted and takes up to 70 ns for each of these, when
 * no two characters of the text lead to the same state.
 */
const mostMatchWork = 131_072;
/** The most characters of a text that is searched. */
const longestText = 4_096;
/** Instructions × characters after which compiled expressions are discarded, because an expression stores states as it matches. */
const mostWorkKept = 16_777_216;
/** Text with common kinds of characters: matching it builds the automaton in advance, so that the first check is fast. */
const warmUpText = 'Some.User-42+x_y@example.com /päth/to?q=1#日本';

let compiled = new Map<string, RE2JS>();
let matched = 0;

/** The number of instructions of an expression's program; undefined when the expression is invalid or too large. */
export function sizeOfRegex(text: string): number | undefined {
  if (text.length > mostCharacters || unrolledSize(text) > mostAtoms) return undefined;
  try {
    const size = regexOf(text).programSize();
    if (size <= mostInstructions) return size;
  } catch {
    // The caller reports the problem.
  }
  compiled.delete(text);
  return undefined;
}

/** The cost of a match in instructions × characters; undefined when it exceeds the limit for one match. */
export function costOfMatch(size: number, text: string): number | undefined {
  const cost = size * text.length;
  return text.length <= longestText && cost <= mostMatchWork ? cost : undefined;
}

/** Whether an expression is found in a text; `cost` is the result of `costOfMatch`. */
export const isFound = (expression: string, text: string, cost: number): boolean =>
  countedRegex(expression, cost).test(text);

/** Whether an expression matches the whole text; `cost` is the result of `costOfMatch`. */
export const isWhole = (expression: string, text: string, cost: number): boolean =>
  countedRegex(expression, cost).matches(text);

function countedRegex(expression: string, cost: number): RE2JS {
  matched += cost;
  if (matched > mostWorkKept) {
    compiled = new Map();
    matched = cost;
  }
  return regexOf(expression);
}

function regexOf(text: string): RE2JS {
  let regex = compiled.get(text);
  if (regex === undefined) {
    regex = RE2JS.compile(text);
    matched += regex.programSize() * warmUpText.length;
    if (regex.programSize() <= mostInstructions) regex.test(warmUpText);
    compiled.set(text, regex);
  }
  return regex;
}
