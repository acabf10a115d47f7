import type { Model } from './model.ts';
import type { Pacing, Suspension } from './pacing.ts';
import type { Definition, Rewrite } from './schema.ts';
import { P, U } from './slices.ts';
import type { SliceKey } from './types.ts';

/** Number of nodes, and of tuples of one node, processed between two checks of the clock. */
const nodesPerLook = 200;
const rowsPerLook = 1_000;

export interface ObjectSet {
  readonly type: string;
  readonly relation: string;
  readonly id: string;
  /** Set when only part of the rewrite is to be expanded. */
  readonly part?: { readonly definition: Definition; readonly rewrite: Rewrite };
}

export interface Expanded {
  /** Ids of the kind that may be in the object sets. Undefined when there are too many to walk. */
  readonly members: Set<string> | undefined;
  /** Whether the walk met a wildcard of the kind. */
  readonly everyone: boolean;
  /** The object sets subtracted from the object sets that the walk met. */
  readonly taken: readonly ObjectSet[];
}

/**
 * Returns the ids of one kind that may be in an object set, a superset of the truth. The walk goes forwards through tuples,
 * usersets and rewrites, level by level, and gives up when it meets more than `limit` nodes and members.
 */
export function* expand(
  model: Model,
  roots: readonly ObjectSet[],
  kind: string,
  now: number,
  limit: number,
  pacing: Pacing,
): Suspension<Expanded> {
  const expansion = new Expansion(model, kind, now, limit, pacing);
  const { taken, found } = expansion;
  let level = roots.filter((root) => expansion.isNew(root));
  while (level.length > 0) {
    const missing = model.slices === null ? [] : expansion.missing(level);
    if (missing.length > 0) yield* pacing.suspend({ need: 'missing', slices: missing });
    const next: ObjectSet[] = [];
    for (const [at, node] of level.entries()) {
      yield* expansion.step(node, next);
      if (expansion.isTooLarge) return { members: undefined, everyone: expansion.everyone, taken };
      if (at % nodesPerLook === 0) yield* pacing.pause();
    }
    level = next;
  }
  return { members: found, everyone: expansion.everyone, taken };
}

class Expansion {
  readonly found = new Set<string>();
  /** Whether the walk met a wildcard of the kind. */
  everyone = false;
  readonly taken: ObjectSet[] = [];
  readonly #limit: number;
  readonly #pacing: Pacing;
  readonly #model: Model;
  readonly #kind: string;
  readonly #now: number;
  readonly #met = new Set<string>();

  constructor(model: Model, kind: string, now: number, limit: number, pacing: Pacing) {
    this.#model = model;
    this.#kind = kind;
    this.#now = now;
    this.#limit = limit;
    this.#pacing = pacing;
  }

  get isTooLarge(): boolean {
    return this.#met.size + this.found.size > this.#limit;
  }

  isNew({ type, relation, id, part }: ObjectSet): boolean {
    if (part !== undefined) return true;
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
        arrow: (relation) => {
          need('P', { ...node, relation });
          need('U', { ...node, relation });
        },
        exclusion: () => undefined,
      });
    }
    return keys;
  }

  *step(node: ObjectSet, next: ObjectSet[]): Suspension<void> {
    const direct: ObjectSet[] = [];
    const arrows: { through: ObjectSet; name: string }[] = [];
    this.#walk(node, {
      direct: () => void direct.push(node),
      name: (name) => this.#reach({ type: node.type, relation: name, id: node.id }, next),
      arrow: (relation, name) => void arrows.push({ through: { ...node, relation }, name }),
      exclusion: (definition, rewrite) => void this.taken.push({ ...node, part: { definition, rewrite } }),
    });
    if (direct.length > 0) yield* this.#members(node, next);
    for (const { through, name } of arrows) yield* this.#targets(through, name, next);
  }

  #reach(set: ObjectSet, next: ObjectSet[]): void {
    if (this.isNew(set)) next.push(set);
  }

  /** Walks both sides of `&` and the left side of `-`: a superset of the truth, never less. */
  #walk(node: ObjectSet, visit: Visitor): void {
    const { schema, facts } = this.#model;
    if (node.part !== undefined) return this.#terms(node.part.definition, node.part.rewrite, visit);
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
        for (const taken of rewrite.terms.slice(1)) visit.exclusion(definition, taken);
        return this.#terms(definition, rewrite.terms[0] ?? { op: 'union', terms: [] }, visit);
      default:
        for (const term of rewrite.terms) this.#terms(definition, term, visit);
    }
  }

  *#members(node: ObjectSet, next: ObjectSet[]): Suspension<void> {
    const { nodes, none, any } = this.#model.facts;
    yield* this.#subjects(node, 'members', (subject) => {
      if (nodes.typeOf(subject) === this.#kind) this.found.add(nodes.idOf(subject));
    });
    yield* this.#subjects(node, 'usersets', (subject) => {
      const [type, relation, id] = [nodes.typeOf(subject), nodes.relationOf(subject), nodes.idOf(subject)];
      if (nodes.relation[subject] !== none) this.#reach({ type, relation, id }, next);
      else if (nodes.id[subject] === any && type === this.#kind) this.everyone = true;
    });
  }

  *#targets(node: ObjectSet, name: string, next: ObjectSet[]): Suspension<void> {
    const { nodes, none, any } = this.#model.facts;
    for (const list of ['members', 'usersets'] as const) {
      yield* this.#subjects(node, list, (subject) => {
        if (nodes.relation[subject] === none && nodes.id[subject] === any) return;
        this.#reach({ type: nodes.typeOf(subject), relation: name, id: nodes.idOf(subject) }, next);
      });
    }
  }

  /** Visits the subjects of an object set's unexpired tuples. */
  *#subjects(
    { type, relation, id }: ObjectSet,
    list: 'members' | 'usersets',
    visit: (subject: number) => void,
  ): Suspension<void> {
    const { facts } = this.#model;
    const object = facts.nodes.findNamed(type, relation, id);
    if (object < 0) return;
    const rows = list === 'members' ? facts.membersOf(object) : facts.usersetsOf(object);
    for (const [at, row] of rows.entries()) {
      if (at % rowsPerLook === 0) yield* this.#pacing.pause();
      if (facts.tuples.expires[row]! > this.#now) visit(facts.tuples.right[row]!);
      if (this.isTooLarge) return;
    }
  }
}

interface Visitor {
  direct(): void;
  name(name: string): void;
  arrow(relation: string, name: string): void;
  exclusion(definition: Definition, rewrite: Rewrite): void;
}
