import { RE2JS } from 're2js';
import { Invalid } from '../../../lib/errors.ts';
import { unrolledSize } from '../../../lib/regex-size.ts';
import { TooMuchWork, type Work } from './schema-work.ts';

/** The most characters of a regular expression, and the most instructions of its program. */
const mostCharacters = 512;
const mostInstructions = 1_000;
/** The most atoms of all expressions of a schema: compiling them cannot be interrupted. */
const mostAtoms = 8_000;
/** The most instructions × characters of one match, which cannot be interrupted either. */
const mostMatchWork = 2_000_000;
/** Instructions × characters after which an expression is compiled anew, because it stores states as it matches. */
const mostWorkKept = 16_000_000;

/** What Ajv needs of a regular expression. */
export interface Pattern {
  test(text: string): boolean;
  /** Ajv keeps one expression for each of these texts. */
  toString(): string;
}

/** Makes the expressions of one schema, which run in linear time and spend work. */
export function patterns(work: Work): (source: string) => Pattern {
  let atoms = 0;

  return (source) => {
    atoms += source.length > mostCharacters ? Infinity : unrolledSize(source);
    if (source.length > mostCharacters)
      throw Invalid(`schema: a regular expression has more than ${mostCharacters} characters`);
    if (atoms > mostAtoms) throw Invalid('schema: the regular expressions are too large');
    let expression = compiled(source);
    const size = expression.programSize();
    if (size > mostInstructions) throw Invalid('schema: a regular expression is too large');
    let matched = 0;

    return {
      test(text) {
        const cost = size * text.length;
        if (cost > mostMatchWork) throw new TooMuchWork();
        work.spend(1 + cost);
        matched += cost;
        if (matched > mostWorkKept) {
          expression = compiled(source);
          matched = cost;
        }
        return expression.test(text);
      },
      toString: () => source,
    };
  };
}

function compiled(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw Invalid(`schema: not a regular expression of RE2: ${clip(source)}`, { cause: error });
  }
}

const clip = (source: string) => (source.length > 64 ? `${source.slice(0, 63)}…`.toWellFormed() : source);
