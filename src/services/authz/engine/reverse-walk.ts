import type { Model } from './model.ts';
import type { Pacing, Suspension } from './pacing.ts';
import { S } from './slices.ts';
import type { ListObjectsInput, SliceKey } from './types.ts';

/** Nodes between two looks at the clock. */
const NODES = 1_000;

interface Reached {
  readonly type: string;
  readonly id: string;
  readonly name: string;
}

/**
 * Ids of the resources that the subject can be related to by the action: backwards from the subject through tuples,
 * usersets and rewrites, level by level, a superset of the truth. Undefined when more than `limit` nodes are met.
 */
export function* reachableObjects(
  model: Model,
  input: ListObjectsInput,
  now: number,
  limit: number,
  pacing: Pacing,
): Suspension<Set<string> | undefined> {
  const walk = new ReverseWalk(model, now);
  const found = new Set<string>();
  let level: Reached[] = [
    { type: input.subject_kind, id: input.subject_id, name: '' },
    { type: input.subject_kind, id: '*', name: '' },
  ];
  while (level.length > 0) {
    yield* load(model, level, walk, pacing);
    const next: Reached[] = [];
    for (const [at, reached] of level.entries()) {
      if (reached.type === input.resource_type && reached.name === input.action) found.add(reached.id);
      walk.step(reached, next);
      if (walk.size > limit) return undefined;
      if (at % NODES === 0) yield* pacing.pause();
    }
    level = next;
  }
  return found;
}

/** Asks for the slices of a level that are not known, all at once. */
function* load(model: Model, level: readonly Reached[], walk: ReverseWalk, pacing: Pacing): Suspension<void> {
  if (model.slices === null) return;
  const missing: SliceKey[] = [];
  for (const reached of level) {
    for (const relation of walk.subjectsOf(reached)) {
      if (model.isKnown(S, model.facts.nodes.findNamed(reached.type, relation, reached.id))) continue;
      missing.push({
        slice: 'S',
        subject_type: reached.type,
        subject_id: reached.id,
        subject_relation: relation,
      });
    }
  }
  if (missing.length > 0) yield* pacing.suspend({ need: 'missing', slices: missing });
}

class ReverseWalk {
  readonly #model: Model;
  readonly #now: number;
  readonly #met = new Set<string>();

  constructor(model: Model, now: number) {
    this.#model = model;
    this.#now = now;
  }

  get size(): number {
    return this.#met.size;
  }

  /** The relations under which a node stands as the subject of tuples: itself, and plain when an arrow leads on. */
  subjectsOf({ name }: Reached): readonly string[] {
    return name !== '' && this.#model.schema.dependents().arrowsTo(name).length > 0 ? [name, ''] : [name];
  }

  /** Adds to `next` what a member of the node may thereby be a member of. */
  step({ type, id, name }: Reached, next: Reached[]): void {
    const dependents = this.#model.schema.dependents();
    if (name !== '') {
      for (const made of dependents.namesMadeOf(type, name)) this.#reach(type, id, made, next);
      const arrows = dependents.arrowsTo(name);
      if (arrows.length > 0) {
        for (const object of this.#objectsOf(type, id, '')) {
          for (const arrow of arrows) {
            if (arrow.type !== object.type || arrow.relation !== object.name) continue;
            this.#reach(object.type, object.id, arrow.name, next);
          }
        }
      }
    }
    for (const object of this.#objectsOf(type, id, name)) {
      if (dependents.isDirect(object.type, object.name))
        this.#reach(object.type, object.id, object.name, next);
    }
  }

  #reach(type: string, id: string, name: string, next: Reached[]): void {
    // No part of a node can hold a control character.
    const key = `${type}\0${name}\0${id}`;
    if (this.#met.has(key)) return;
    this.#met.add(key);
    next.push({ type, id, name });
  }

  /** The object sets of the unexpired tuples whose subject is the node. */
  #objectsOf(type: string, id: string, relation: string): Reached[] {
    const { facts } = this.#model;
    const { nodes, tuples } = facts;
    const objects: Reached[] = [];
    const subject = nodes.findNamed(type, relation, id);
    if (subject < 0) return objects;
    for (const row of facts.containersOf(subject)) {
      if (!(tuples.expires[row]! > this.#now)) continue;
      const object = tuples.left[row]!;
      objects.push({ type: nodes.typeOf(object), id: nodes.idOf(object), name: nodes.relationOf(object) });
    }
    return objects;
  }
}
