import { Invalid } from '../../../../lib/errors.ts';
import { tokensOf, type Token } from './tokens.ts';

/**
 * The language of policy conditions.
 *
 *     condition  = all {"or" all}
 *     all        = negation {"and" negation}
 *     negation   = "not" negation | "(" condition ")" | comparison
 *     comparison = operand [operator operand]          a flag stands alone
 *     operator   = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "matches"
 *     operand    = name | "context." path | "metadata." path | text | number | word | "[" literals "]"
 */
export type Condition =
  | { readonly op: 'or' | 'and'; readonly terms: readonly Condition[] }
  | { readonly op: 'not'; readonly term: Condition }
  | { readonly op: 'flag'; readonly name: string }
  | Comparison;

export interface Comparison {
  readonly op: Operator;
  readonly left: Operand;
  readonly right: Operand;
  /** Where it begins in the text, from 0. */
  readonly at: number;
}

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'matches';

export type Operand =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'path'; readonly root: 'context' | 'metadata'; readonly path: readonly string[] }
  | { readonly kind: 'literal'; readonly value: Literal | readonly Literal[] };

export type Literal = string | number | boolean;

const mostTerms = 64;
const operators = new Set(['==', '!=', '<', '<=', '>', '>=', 'in', 'matches']);
const flags = new Set(['true', 'pii_detected', 'secret_detected']);
const names = new Set([
  'score',
  'count',
  'severity',
  'pii_count',
  'decision',
  'direction',
  'text_length',
  'types',
  'sources',
  'user_id',
]);
/** Words that may be written without quotes. */
const words = new Set([
  ...['info', 'warning', 'error', 'critical'],
  ...['allow', 'flag', 'redact', 'block'],
  ...['input', 'output'],
]);
const reserved = new Set(['or', 'and', 'not', 'in', 'matches']);

/** Parses a condition. @throws Invalid('<field>: <problem> at <position>'), with positions counted from 1 */
export function parseCondition(text: string, field: string): Condition {
  return new Parser(text, field).parse();
}

class Parser {
  #at = 0;
  #terms = 0;
  readonly #tokens: readonly Token[];
  readonly #field: string;

  constructor(text: string, field: string) {
    this.#field = field;
    this.#tokens = tokensOf(text, (problem, at) => this.#refuse(problem, at));
  }

  parse(): Condition {
    const condition = this.#any();
    if (this.#next.kind !== 'end') this.#refuse(`unexpected "${this.#next.text}"`);
    return condition;
  }

  #any(): Condition {
    return this.#joined('or', () => this.#joined('and', () => this.#negation()));
  }

  #joined(op: 'or' | 'and', part: () => Condition): Condition {
    const terms = [part()];
    while (this.#takes(op)) terms.push(part());
    return terms.length === 1 ? terms[0]! : { op, terms };
  }

  #negation(): Condition {
    if (this.#takes('not')) return { op: 'not', term: this.#negation() };
    if (!this.#takes('(')) return this.#comparison();
    const inner = this.#any();
    if (!this.#takes(')')) this.#refuse('expected ")"');
    return inner;
  }

  #comparison(): Condition {
    const begin = this.#next;
    if (++this.#terms > mostTerms) this.#refuse(`more than ${mostTerms} terms`);
    const second = this.#tokens[this.#at + 1]!;
    if (begin.kind === 'word' && flags.has(begin.text) && !isOperator(second)) {
      this.#at++;
      return { op: 'flag', name: begin.text };
    }
    const left = this.#operand();
    const sign = this.#next;
    if (!isOperator(sign)) this.#refuse(`expected a comparison after "${begin.text}"`);
    this.#at++;
    const target = this.#next;
    const right = this.#operand();
    const isText = right.kind === 'literal' && typeof right.value === 'string';
    if (sign.text === 'matches' && !isText) this.#refuse('"matches" needs a pattern in quotes', target.at);
    return { op: sign.text as Operator, left, right, at: begin.at };
  }

  #operand(): Operand {
    const token = this.#next;
    if (this.#takes('[')) return { kind: 'literal', value: this.#list() };
    this.#at++;
    if (token.kind === 'text') return { kind: 'literal', value: token.value as string };
    if (token.kind === 'number') return { kind: 'literal', value: token.value as number };
    if (token.kind !== 'word' || reserved.has(token.text))
      this.#refuse(token.kind === 'end' ? 'unexpected end' : `unexpected "${token.text}"`, token.at);
    if (token.text === 'true' || token.text === 'false')
      return { kind: 'literal', value: token.text === 'true' };
    if (words.has(token.text)) return { kind: 'literal', value: token.text };
    if (names.has(token.text)) return { kind: 'name', name: token.text };
    const [root, ...path] = token.text.split('.');
    if ((root === 'context' || root === 'metadata') && path.length > 0 && !path.includes(''))
      return { kind: 'path', root, path };
    return this.#refuse(`unknown name "${token.text}"`, token.at);
  }

  #list(): Literal[] {
    const list: Literal[] = [];
    do {
      const { at } = this.#next;
      const operand = this.#operand();
      if (operand.kind !== 'literal' || typeof operand.value === 'object')
        this.#refuse('a list holds only literals', at);
      list.push(operand.value);
    } while (this.#takes(','));
    if (!this.#takes(']')) this.#refuse('expected "]"');
    return list;
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? this.#tokens.at(-1)!;
  }

  #takes(text: string): boolean {
    const { kind } = this.#next;
    const taken = (kind === 'sign' || kind === 'word') && this.#next.text === text;
    if (taken) this.#at++;
    return taken;
  }

  #refuse(problem: string, at = this.#next.at): never {
    throw Invalid(`${this.#field}: ${problem} at ${at + 1}`);
  }
}

const isOperator = ({ kind, text }: Token) => kind !== 'text' && operators.has(text);
