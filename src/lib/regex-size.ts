/** A Unicode class, such as `\p{L}`, takes the time of this many atoms, because it consists of hundreds of ranges. */
const unicodeClassAtoms = 20;

/**
 * Where case does not matter, the parser looks for the other cases of each character of a range, one by one, and goes through the
 * ranges of a Unicode class once more. It does so once, however often the class is repeated.
 */
const ignoresCase = /\(\?[msU]*i/;
const charactersPerAtom = 24;
const foldedClassAtoms = 80;
/** Beyond these characters there are no cases. */
const casedCharacters = [65, 125_251] as const;

const rangeInClass = /(\\x\{[^}]*\}|\\x..|\\.|.)-(\\x\{[^}]*\}|\\x..|\\.|.)/gsu;

const countedRepeat = /^\{(\d+)(,(\d*))?\}/;

/** Parts of an expression that are one atom: an escape with its argument, or a class in brackets. */
const escapeSequence = /^\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|..)|.)/su;
const characterClass = /^\[\^?\]?(?:\\[pP]\{[^}]*\}|\\.|\[:[^\]]*:\]|[^\]\\])*\]/su;

/**
 * Counts the atoms of an expression with its counted repetitions written out, which determines the time to compile it:
 * `(a{100}){100}` has 10,000. It compiles nothing, and returns some number for an invalid expression, too.
 */
export function unrolledSize(expression: string): number {
  /** The open groups, innermost last: the size of each group so far, and the size of its last atom. */
  const groups = [{ size: 0, last: 0 }];
  let parsing = 0;
  const isFolded = ignoresCase.test(expression);
  const add = (size: number) => {
    const group = groups.at(-1)!;
    group.size += size;
    group.last = size;
  };
  for (let at = 0; at < expression.length;) {
    const rest = expression.slice(at);
    const [counted, from, , to] = countedRepeat.exec(rest) ?? [];
    const [atom] = escapeSequence.exec(rest) ?? characterClass.exec(rest) ?? [rest.charAt(0)];
    if (counted !== undefined) {
      const group = groups.at(-1)!;
      const times = Math.max(1, Number(from), Number(to || 0));
      group.size += group.last * (times - 1);
      group.last *= times;
    } else if (atom === '(') groups.push({ size: 1, last: 0 });
    else if (atom === ')' && groups.length > 1) add(groups.pop()!.size);
    else if (atom.length > 1 || !'*+?|'.includes(atom)) {
      add(weightOf(atom));
      if (isFolded && counted === undefined) parsing += foldingOf(atom);
    }
    at += (counted ?? atom).length;
  }
  return groups.reduce((sum, { size }) => sum + size, parsing);
}

const unicodeClassesOf = (atom: string) => atom.match(/\\[pP]/g)?.length ?? 0;

const weightOf = (atom: string) => 1 + unicodeClassesOf(atom) * unicodeClassAtoms;

/** The atoms that take as long as to find the other cases of what an atom consists of. */
function foldingOf(atom: string): number {
  let atoms = unicodeClassesOf(atom) * foldedClassAtoms;
  if (!atom.startsWith('[')) return atoms;
  const [least, most] = casedCharacters;
  for (const [, from, to] of atom.slice(1, -1).matchAll(rangeInClass)) {
    const [low, high] = [pointOf(from!), pointOf(to!)];
    if (low > least || high < most)
      atoms += Math.ceil(Math.max(0, Math.min(high, most) - Math.max(low, least) + 1) / charactersPerAtom);
  }
  return atoms;
}

function pointOf(character: string): number {
  const [, hexadecimal] = /^\\x\{?([^}]*)/.exec(character) ?? [];
  return hexadecimal === undefined ? character.codePointAt(0)! : Number.parseInt(hexadecimal, 16) || 0;
}
