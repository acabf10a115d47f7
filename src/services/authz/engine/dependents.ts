import { parseType } from './type-graph.ts';
import type { Expression } from './expression.ts';
import type { ResourceTypeRule } from './types.ts';

/** `type`'s `name` holds for an object if an object behind its `relation` is in the name it is listed under. */
export interface Arrow {
  readonly type: string;
  readonly relation: string;
  readonly name: string;
}

/** The rewrites read backwards: what a member of one name may thereby be a member of. */
export class Dependents {
  /** Type → name → names of the same type that are made of it. */
  readonly #names = new Map<string, Map<string, string[]>>();
  /** Type → names to which a tuple of their own matters. */
  readonly #direct = new Map<string, Set<string>>();
  readonly #arrows = new Map<string, Arrow[]>();

  constructor(types: Iterable<ResourceTypeRule>) {
    for (const type of types) {
      this.#names.set(type.name, new Map());
      this.#direct.set(type.name, new Set());
      for (const [name, { expression }] of parseType(type)) this.#read(type.name, name, expression);
    }
  }

  namesMadeOf(type: string, name: string): readonly string[] {
    return this.#names.get(type)?.get(name) ?? [];
  }

  arrowsTo(name: string): readonly Arrow[] {
    return this.#arrows.get(name) ?? [];
  }

  /** Whether a tuple on the relation can make its subject a member; always outside defined types. */
  isDirect(type: string, relation: string): boolean {
    return this.#direct.get(type)?.has(relation) ?? true;
  }

  /** Both sides of `&` and the left side of `-`: more than is true, never less. */
  #read(type: string, name: string, expression: Expression): void {
    switch (expression.op) {
      case 'this':
        this.#direct.get(type)?.add(name);
        return;
      case 'name':
        listIn(this.#names.get(type) ?? new Map<string, string[]>(), expression.name).push(name);
        return;
      case 'arrow':
        listIn(this.#arrows, expression.name).push({ type, relation: expression.relation, name });
        return;
      default: {
        const terms = expression.op === 'exclusion' ? expression.terms.slice(0, 1) : expression.terms;
        for (const term of terms) this.#read(type, name, term);
      }
    }
  }
}

function listIn<Value>(map: Map<string, Value[]>, key: string): Value[] {
  let list = map.get(key);
  if (list === undefined) map.set(key, (list = []));
  return list;
}
