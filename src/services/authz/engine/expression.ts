import { Invalid } from '../../../lib/errors.ts';

/**
 * The rewrite language of resource types.
 *
 *     expr = term {("+" | "&" | "-") term}       one operator per level, operators between spaces
 *     term = "this" | name | name "->" name | "(" expr ")"
 */
export type Expression =
  | { readonly op: 'this' }
  | { readonly op: 'name'; readonly name: string; readonly at: number }
  | { readonly op: 'arrow'; readonly relation: string; readonly name: string; readonly at: number }
  | { readonly op: 'union' | 'intersection' | 'exclusion'; readonly terms: readonly Expression[] };

const mostCharacters = 1_000;
const mostTerms = 64;
const deepestNesting = 16;
const namePattern = /[A-Za-z_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?/y;
const operators = { '+': 'union', '&': 'intersection', '-': 'exclusion' } as const;
const ownTuples: Expression = { op: 'this' };

/** Parses an expression. @throws Invalid('<field>: <problem> at <position>'), with positions counted from 1 */
export function parseExpression(text: string, field: string): Expression {
  return new Parser(text, field).parse();
}

class Parser {
  #at = 0;
  #terms = 0;
  readonly #text: string;
  readonly #field: string;

  constructor(text: string, field: string) {
    this.#text = text;
    this.#field = field;
  }

  parse(): Expression {
    if (this.#text.length > mostCharacters) throw Invalid(`${this.#field}: longer than ${mostCharacters}`);
    const expression = this.#expression(0);
    if (this.#at < this.#text.length) this.#fail(`unexpected "${this.#text[this.#at]}"`);
    return expression;
  }

  #expression(nesting: number): Expression {
    const first = this.#term(nesting);
    const terms = [first];
    let operator = '';
    for (;;) {
      this.#spaces();
      const sign = this.#text[this.#at];
      if (sign !== '+' && sign !== '&' && sign !== '-') break;
      if (operator !== '' && sign !== operator) this.#fail(`"${operator}" and "${sign}" need parentheses`);
      if (!this.#spaceAt(this.#at - 1) || !this.#spaceAt(this.#at + 1))
        this.#fail(`"${sign}" needs spaces around it`);
      operator = sign;
      this.#at++;
      terms.push(this.#term(nesting));
    }
    return operator === '' ? first : { op: operators[operator as keyof typeof operators], terms };
  }

  #term(nesting: number): Expression {
    this.#spaces();
    if (this.#text[this.#at] === '(') return this.#parenthesis(nesting);
    const at = this.#at;
    const name = this.#name();
    if (++this.#terms > mostTerms) this.#fail(`more than ${mostTerms} terms`, at);
    this.#spaces();
    if (!this.#text.startsWith('->', this.#at)) return name === 'this' ? ownTuples : { op: 'name', name, at };
    if (name === 'this') this.#fail('"->" needs a relation on its left', at);
    this.#at += 2;
    this.#spaces();
    return { op: 'arrow', relation: name, name: this.#name(), at };
  }

  #parenthesis(nesting: number): Expression {
    if (nesting === deepestNesting) this.#fail(`nested deeper than ${deepestNesting}`);
    this.#at++;
    const inner = this.#expression(nesting + 1);
    this.#spaces();
    if (this.#text[this.#at] !== ')') this.#fail('expected ")"');
    this.#at++;
    return inner;
  }

  #name(): string {
    namePattern.lastIndex = this.#at;
    const name = namePattern.exec(this.#text)?.[0];
    if (name === undefined) this.#fail('expected a name');
    this.#at += name.length;
    return name;
  }

  #spaces(): void {
    while (this.#spaceAt(this.#at)) this.#at++;
  }

  #spaceAt(position: number): boolean {
    return this.#text[position] === ' ';
  }

  #fail(problem: string, at = this.#at): never {
    throw Invalid(`${this.#field}: ${problem} at ${at + 1}`);
  }
}
