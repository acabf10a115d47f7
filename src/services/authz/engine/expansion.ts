import type { Model } from './model.ts';
import type { Pacing, Suspension } from './pacing.ts';
import type { Definition, Rewrite } from './schema.ts';
import { P, U } from './slices.ts';
import type { SliceKey } from './types.ts';

/** Nodes between two looks at the clock. */
const NODES = 1_000;

export interface ObjectSet {
  readonly type: string;
  readonly relation: string;
  readonly id: string;
}

/**
 * Ids of one kind that may be in an object set: forwards through tuples, usersets and rewrites, level by level, a
 * superset of the truth. Undefined when more than `limit` nodes and members are met, or a wildcard of the kind.
 */
export function* expand(
  model: Model,
  roots: readonly ObjectSet[],
  kind: string,
  now: number,
  limit: number,
  pacing: Pacing,
): Suspension<Set<string> | undefined> {
  const expansion = new Expansion(model, kind, now);
  let level = roots.filter((root) => expansion.isNew(root));
  while (level.length > 0) {
    const missing = model.slices === null ? [] : expansion.missing(level);
    if (missing.length > 0) yield* pacing.suspend({ need: 'missing', slices: missing });
    const next: ObjectSet[] = [];
    for (const [at, node] of level.entries()) {
      expansion.step(node, next);
      if (expansion.everyone || expansion.size > limit) return undefined;
      if (at % NODES === 0) yield* pacing.pause();
    }
    level = next;
  }
  return expansion.found;
}

class Expansion {
  readonly found = new Set<string>();
  /** A wildcard of the kind was met. */
  everyone = false;
  readonly #model: Model;
  readonly #kind: string;
  readonly #now: number;
  readonly #met = new Set<string>();

  constructor(model: Model, kind: string, now: number) {
    this.#model = model;
    this.#kind = kind;
    this.#now = now;
  }

  get size(): number {
    return this.#met.size + this.found.size;
  }

  isNew({ type, relation, id }: ObjectSet): boolean {
    const key = `${type}\0${relation}\0${id}`;
    if (this.#met.has(key)) return false;
    this.#met.add(key);
    return true;
  }

  missing(level: readonly ObjectSet[]): SliceKey[] {
    const keys: SliceKey[] = [];
    const need = (slice: 'U' | 'P', { type, relation, id }: ObjectSet) => {
      const known = this.#model.isKnown(
        slice === 'U' ? U : P,
        this.#model.facts.nodes.findNamed(type, relation, id),
      );
      if (!known) keys.push({ slice, object_type: type, relation, object_id: id });
    };
    for (const node of level) {
      this.#walk(node, {
        direct: () => {
          need('P', node);
          need('U', node);
        },
        name: () => undefined,
        arrow: (relation) => need('P', { ...node, relation }),
      });
    }
    return keys;
  }

  step(node: ObjectSet, next: ObjectSet[]): void {
    const reach = (set: ObjectSet) => {
      if (this.isNew(set)) next.push(set);
    };
    this.#walk(node, {
      direct: () => this.#members(node, reach),
      name: (name) => reach({ ...node, relation: name }),
      arrow: (relation, name) => {
        for (const target of this.#plain({ ...node, relation }))
          reach({ type: target.type, relation: name, id: target.id });
      },
    });
  }

  /** Both sides of `&` and the left side of `-`: more than is true, never less. */
  #walk(node: ObjectSet, visit: Visitor): void {
    const { schema, facts } = this.#model;
    const type = schema.type(facts.strings.find(node.type));
    if (type === undefined) return visit.direct();
    const definition = type.get(facts.strings.find(node.relation));
    if (definition !== undefined) this.#terms(definition, definition.rewrite, visit);
  }

  #terms(definition: Definition, rewrite: Rewrite, visit: Visitor): void {
    const { strings } = this.#model.facts;
    switch (rewrite.op) {
      case 'this':
        return visit.direct();
      case 'name':
        return visit.name(strings.text(rewrite.name));
      case 'arrow':
        return visit.arrow(strings.text(rewrite.relation), strings.text(rewrite.name));
      case 'exclusion':
        return this.#terms(definition, rewrite.terms[0] ?? { op: 'union', terms: [] }, visit);
      default:
        for (const term of rewrite.terms) this.#terms(definition, term, visit);
    }
  }

  #members(node: ObjectSet, reach: (set: ObjectSet) => void): void {
    for (const { type, id } of this.#plain(node)) if (type === this.#kind) this.found.add(id);
    const { facts } = this.#model;
    const object = facts.nodes.findNamed(node.type, node.relation, node.id);
    if (object < 0) return;
    for (const row of facts.usersetsOf(object)) {
      if (!(facts.tuples.expires[row]! > this.#now)) continue;
      const subject = facts.tuples.right[row]!;
      const [type, relation, id] = [
        facts.nodes.typeOf(subject),
        facts.nodes.relationOf(subject),
        facts.nodes.idOf(subject),
      ];
      if (relation !== '') reach({ type, relation, id });
      else if (type === this.#kind) this.everyone = true;
    }
  }

  #plain({ type, relation, id }: ObjectSet): { type: string; id: string }[] {
    const { facts } = this.#model;
    const object = facts.nodes.findNamed(type, relation, id);
    if (object < 0) return [];
    return facts
      .membersOf(object)
      .filter((row) => facts.tuples.expires[row]! > this.#now)
      .map((row) => facts.tuples.right[row]!)
      .map((subject) => ({ type: facts.nodes.typeOf(subject), id: facts.nodes.idOf(subject) }));
  }
}

interface Visitor {
  direct(): void;
  name(name: string): void;
  arrow(relation: string, name: string): void;
}
