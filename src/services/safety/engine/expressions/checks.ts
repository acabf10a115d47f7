import { RE2JS, RE2JSSyntaxException } from 're2js';
import { Invalid } from '../../../../lib/errors.ts';
import { unrolledSize } from '../../../../lib/regex-size.ts';

const mostCharacters = 512;
/** The most instructions of the program of one expression. */
export const mostInstructions = 2_000;
/** The most atoms of an expression that is compiled: only compiling finds the program size, and it cannot be interrupted. */
const mostAtoms = 8_000;

/**
 * Checks a tenant's expression and returns the size of its program.
 * @throws Invalid('<problem> at <position>'), with positions counted from 1; the caller names the field
 */
export function checkRegex(source: string): { programSize: number } {
  if (source.length > mostCharacters) throw Invalid(`longer than ${mostCharacters} characters`);
  const tooLarge = `its program has more than ${mostInstructions} instructions`;
  if (unrolledSize(source) > mostAtoms) throw Invalid(tooLarge);
  let programSize: number;
  try {
    programSize = RE2JS.compile(source).programSize();
  } catch (error) {
    throw Invalid(problemOf(source, error), { cause: error });
  }
  if (programSize > mostInstructions) throw Invalid(tooLarge);
  return { programSize };
}

/** A parser names the fragment that it cannot read, and the fragment tells the position. */
function problemOf(source: string, error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) return 'not a regular expression in RE2 syntax';
  const fragment = error.getPattern();
  const at = fragment === null || fragment === '' ? 0 : source.lastIndexOf(fragment);
  return `${error.getDescription()} at ${Math.max(0, at) + 1}`;
}
