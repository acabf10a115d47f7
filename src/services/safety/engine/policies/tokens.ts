/** A token of a condition and the position at which it begins. */
export interface Token {
  readonly kind: 'word' | 'number' | 'text' | 'sign' | 'end';
  readonly text: string;
  readonly at: number;
  /** The value of a number or of a text in quotes. */
  readonly value?: string | number;
}

const spaces = /\s*/y;
const word = /[A-Za-z_][A-Za-z0-9_.-]*/y;
const number = /-?(?:\d+\.?\d*|\.\d+)/y;
const sign = /[=!<>]=|[<>()[\],]/y;

/** Divides a condition into tokens, the last of which marks the end. */
export function tokensOf(text: string, refuse: (problem: string, at: number) => never): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const read = (kind: RegExp) => {
    kind.lastIndex = at;
    return kind.exec(text)?.[0];
  };
  for (;;) {
    at += read(spaces)!.length;
    const first = text[at];
    if (first === undefined) break;
    if (first === "'" || first === '"') {
      const end = text.indexOf(first, at + 1);
      if (end < 0) refuse('text without its closing quote', at);
      tokens.push({ kind: 'text', text: text.slice(at, end + 1), at, value: text.slice(at + 1, end) });
      at = end + 1;
      continue;
    }
    const name = read(word);
    const digits = name === undefined ? read(number) : undefined;
    const found = name ?? digits ?? read(sign);
    if (found === undefined) refuse(`unexpected "${String.fromCodePoint(text.codePointAt(at)!)}"`, at);
    if (name !== undefined) tokens.push({ kind: 'word', text: found, at });
    else if (digits !== undefined) tokens.push({ kind: 'number', text: found, at, value: Number(digits) });
    else tokens.push({ kind: 'sign', text: found, at });
    at += found.length;
  }
  tokens.push({ kind: 'end', text: '', at });
  return tokens;
}
