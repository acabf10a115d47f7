import { Dependents } from './dependents.ts';
import type { Expression } from './expression.ts';
import type { Strings } from './strings.ts';
import { parseType } from './type-graph.ts';
import type { SubjectForm, TypeName } from './type-graph.ts';
import type { ResourceTypeRule } from './types.ts';

/** An expression whose names are numbers in `Strings`. */
export type Rewrite =
  | { readonly op: 'this' }
  | { readonly op: 'name'; readonly name: number }
  | { readonly op: 'arrow'; readonly relation: number; readonly through: Definition; readonly name: number }
  | { readonly op: 'union' | 'intersection' | 'exclusion'; readonly terms: readonly Rewrite[] };

/** A relation or permission of a defined type. */
export interface Definition {
  rewrite: Rewrite;
  /** False for a permission. */
  readonly isRelation: boolean;
  /** Numbers of the types whose plain subjects, and whose wildcard, a tuple may have as its subject. */
  readonly plain: ReadonlySet<number>;
  readonly wildcards: ReadonlySet<number>;
  /** Pairs of type and relation number. */
  readonly usersets: readonly { readonly type: number; readonly relation: number }[];
  /** The subject forms as written. */
  readonly forms: readonly SubjectForm[];
}

export type TypeDefinition = ReadonlyMap<number, Definition>;

/** The resource types of a tenant, by the number of their name. */
export class Schema {
  readonly #strings: Strings;
  readonly #types = new Map<number, TypeDefinition>();
  /** Record id → the record and every number that it holds, with the number of its name first. */
  readonly #records = new Map<
    string,
    { readonly rule: ResourceTypeRule; readonly held: readonly number[] }
  >();
  #dependents: Dependents | undefined;

  constructor(strings: Strings) {
    this.#strings = strings;
  }

  get size(): number {
    return this.#types.size;
  }

  type(number: number): TypeDefinition | undefined {
    return this.#types.get(number);
  }

  /** Returns the rewrites read backwards, built on first use. */
  dependents(): Dependents {
    this.#dependents ??= new Dependents([...this.#records.values()].map(({ rule }) => rule));
    return this.#dependents;
  }

  put(rule: ResourceTypeRule): void {
    const held: number[] = [];
    const number = (text: string) => {
      held.push(this.#strings.hold(text));
      return held.at(-1) ?? -1;
    };
    const name = number(rule.name);
    const type = defineType(parseType(rule), number);
    this.delete(rule.id);
    this.#types.set(name, type);
    this.#dependents = undefined;
    this.#records.set(rule.id, { rule, held });
  }

  delete(id: string): void {
    const record = this.#records.get(id);
    if (record === undefined) return;
    this.#records.delete(id);
    this.#types.delete(record.held[0] ?? -1);
    this.#dependents = undefined;
    for (const held of record.held) this.#strings.release(held);
  }
}

/** Whether a tuple with this userset as its subject counts for a relation. For undefined types every userset does. */
export function admitsUserset(definition: Definition | null, type: number, relation: number): boolean {
  if (definition === null) return true;
  for (const form of definition.usersets) if (form.type === type && form.relation === relation) return true;
  return false;
}

function defineType(names: ReadonlyMap<string, TypeName>, number: (text: string) => number): TypeDefinition {
  const definitions = new Map<string, Definition>();
  for (const [name, { subjects }] of names) {
    const forms = subjects ?? [];
    definitions.set(name, {
      rewrite: { op: 'this' },
      isRelation: subjects !== null,
      plain: new Set(
        forms.filter((form) => !form.wildcard && form.relation === '').map((form) => number(form.type)),
      ),
      wildcards: new Set(forms.filter((form) => form.wildcard).map((form) => number(form.type))),
      usersets: forms
        .filter((form) => form.relation !== '')
        .map((form) => ({ type: number(form.type), relation: number(form.relation) })),
      forms,
    });
  }
  for (const [name, definition] of definitions) {
    const expression = names.get(name)?.expression;
    if (expression !== undefined) definition.rewrite = rewriteOf(expression, definitions, number);
  }
  return new Map([...definitions].map(([name, definition]) => [number(name), definition]));
}

function rewriteOf(
  expression: Expression,
  definitions: ReadonlyMap<string, Definition>,
  number: (text: string) => number,
): Rewrite {
  switch (expression.op) {
    case 'this':
      return expression;
    case 'name':
      return { op: 'name', name: number(expression.name) };
    case 'arrow': {
      const through = definitions.get(expression.relation);
      if (through === undefined) throw new Error(`unknown relation ${expression.relation}`);
      return { op: 'arrow', relation: number(expression.relation), through, name: number(expression.name) };
    }
    default:
      return {
        op: expression.op,
        terms: expression.terms.map((term) => rewriteOf(term, definitions, number)),
      };
  }
}
