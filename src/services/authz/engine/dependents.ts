import { parseType } from './type-graph.ts';
import type { Expression } from './expression.ts';
import type { SubjectForm, TypeName } from './type-graph.ts';
import type { ResourceTypeRule } from './types.ts';

/**
 * `type`'s `name` holds for an object when an object that its `relation` leads to is a member of the name under which this
 * arrow is listed.
 */
interface Arrow {
  readonly type: string;
  readonly relation: string;
  readonly name: string;
  /** Forms of subject that the arrow follows. */
  readonly through: readonly SubjectForm[];
}

/** The names that arrows derive from a tuple, by the type and then the relation of its object. */
export type ArrowsBack = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** The rewrites read backwards: which other names a member of a name may be a member of as a result. */
export class Dependents {
  /** Type → name → names of the same type that are derived from it. */
  readonly #names = new Map<string, Map<string, string[]>>();
  /** Type → names that direct tuples affect. */
  readonly #direct = new Map<string, Set<string>>();
  readonly #arrows = new Map<string, Arrow[]>();
  readonly #back = new Map<string, ReadonlyMap<string, ArrowsBack>>();

  constructor(types: Iterable<ResourceTypeRule>) {
    for (const type of types) {
      this.#names.set(type.name, new Map());
      this.#direct.set(type.name, new Set());
      const names = parseType(type);
      for (const [name, { expression }] of names) this.#read(type.name, name, expression, names);
    }
  }

  namesMadeOf(type: string, name: string): readonly string[] {
    return this.#names.get(type)?.get(name) ?? [];
  }

  /**
   * Returns the arrows that lead to a name of a type, read backwards. The key is the relation with which an object of the type
   * appears as the subject of tuples (`''`: plain), because an arrow also follows usersets.
   */
  arrowsTo(type: string, name: string): ReadonlyMap<string, ArrowsBack> {
    const key = `${type}#${name}`;
    const known = this.#back.get(key);
    if (known !== undefined) return known;
    const back = new Map<string, Map<string, Map<string, Set<string>>>>();
    for (const arrow of this.#arrows.get(name) ?? []) {
      for (const form of arrow.through) {
        if (form.type !== type || form.wildcard) continue;
        const ofSubject = within(back, form.relation, () => new Map<string, Map<string, Set<string>>>());
        const ofType = within(ofSubject, arrow.type, () => new Map<string, Set<string>>());
        within(ofType, arrow.relation, () => new Set<string>()).add(arrow.name);
      }
    }
    // Callers choose what they ask about, so a name that no arrow leads to is not cached.
    if (back.size > 0) this.#back.set(key, back);
    return back;
  }

  /** Whether a tuple on the relation can make its subject a member. Always true for undefined types. */
  isDirect(type: string, relation: string): boolean {
    return this.#direct.get(type)?.has(relation) ?? true;
  }

  /** Reads both sides of `&` and the left side of `-`: a superset of the truth, never less. */
  #read(type: string, name: string, expression: Expression, names: ReadonlyMap<string, TypeName>): void {
    switch (expression.op) {
      case 'this':
        this.#direct.get(type)?.add(name);
        return;
      case 'name':
        listIn(this.#names.get(type) ?? new Map<string, string[]>(), expression.name).push(name);
        return;
      case 'arrow':
        listIn(this.#arrows, expression.name).push({
          ...{ type, relation: expression.relation, name },
          through: names.get(expression.relation)?.subjects ?? [],
        });
        return;
      default: {
        const terms = expression.op === 'exclusion' ? expression.terms.slice(0, 1) : expression.terms;
        for (const term of terms) this.#read(type, name, term, names);
      }
    }
  }
}

function within<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

function listIn<Value>(map: Map<string, Value[]>, key: string): Value[] {
  let list = map.get(key);
  if (list === undefined) map.set(key, (list = []));
  return list;
}
