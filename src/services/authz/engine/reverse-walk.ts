import type { Model } from './model.ts';
import type { Pacing, Suspension } from './pacing.ts';
import { S } from './slices.ts';
import type { ListObjectsInput, SliceKey } from './types.ts';

/** Nodes between two checks of the clock. */
const nodesPerLook = 200;
/** Tuples of one node between two checks of the clock. */
const rowsPerLook = 1_000;

interface Reached {
  readonly type: string;
  readonly id: string;
  readonly name: string;
}

/**
 * Returns ids of the resources that the action can relate to the subject, a superset of the truth. The walk goes backwards from
 * the subject through tuples, usersets and rewrites, level by level. Returns undefined when it meets more than `limit` nodes.
 */
export function* reachableObjects(
  model: Model,
  input: ListObjectsInput,
  now: number,
  limit: number,
  pacing: Pacing,
): Suspension<Set<string> | undefined> {
  const walk = new ReverseWalk(model, now, limit, pacing);
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
      yield* walk.step(reached, next);
      if (walk.isTooLarge) return undefined;
      if (at % nodesPerLook === 0) yield* pacing.pause();
    }
    level = next;
  }
  return found;
}

/** Requests all unknown slices of a level at once. */
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

  readonly #limit: number;
  readonly #pacing: Pacing;

  constructor(model: Model, now: number, limit: number, pacing: Pacing) {
    this.#model = model;
    this.#now = now;
    this.#limit = limit;
    this.#pacing = pacing;
  }

  get isTooLarge(): boolean {
    return this.#met.size > this.#limit;
  }

  /** Returns the relations with which a node appears as the subject of tuples: its own, and those that arrows follow. */
  subjectsOf({ type, name }: Reached): readonly string[] {
    return name === ''
      ? [name]
      : [...new Set([name, ...this.#model.schema.dependents().arrowsTo(type, name).keys()])];
  }

  /** Adds to `next` the nodes of which a member of this node may be a member as a result. */
  *step({ type, id, name }: Reached, next: Reached[]): Suspension<void> {
    const dependents = this.#model.schema.dependents();
    if (name !== '') {
      for (const made of dependents.namesMadeOf(type, name)) this.#reach(type, id, made, next);
      for (const [relation, arrows] of dependents.arrowsTo(type, name)) {
        yield* this.#objectsOf(type, id, relation, (object) => {
          for (const made of arrows.get(object.type)?.get(object.name) ?? [])
            this.#reach(object.type, object.id, made, next);
        });
      }
    }
    yield* this.#objectsOf(type, id, name, (object) => {
      if (dependents.isDirect(object.type, object.name))
        this.#reach(object.type, object.id, object.name, next);
    });
  }

  #reach(type: string, id: string, name: string, next: Reached[]): void {
    // No part of a node can contain a control character.
    const key = `${type}\0${name}\0${id}`;
    if (this.#met.has(key)) return;
    this.#met.add(key);
    next.push({ type, id, name });
  }

  /** Visits the object sets of the unexpired tuples whose subject is the node. */
  *#objectsOf(
    type: string,
    id: string,
    relation: string,
    visit: (object: Reached) => void,
  ): Suspension<void> {
    const { facts } = this.#model;
    const { nodes, tuples } = facts;
    const subject = nodes.findNamed(type, relation, id);
    if (subject < 0) return;
    for (const [at, row] of facts.containersOf(subject).entries()) {
      if (at % rowsPerLook === 0) yield* this.#pacing.pause();
      if (this.isTooLarge) return;
      if (!(tuples.expires[row]! > this.#now)) continue;
      const object = tuples.left[row]!;
      visit({ type: nodes.typeOf(object), id: nodes.idOf(object), name: nodes.relationOf(object) });
    }
  }
}
