import type { Question } from './question.ts';
import type { Definition, Rewrite } from './schema.ts';
import { admitsUserset } from './schema.ts';
import { P, U } from './slices.ts';
import { Fixpoint, NOTHING } from './fixpoint.ts';
import type { Value } from './fixpoint.ts';
import type { TupleKey } from './types.ts';
import { FALSE, TRUE, UNKNOWN, Visits } from './visits.ts';

/** A table that grew beyond this many nodes is given back after the evaluation. */
const KEPT = 65_536;

/** The object set that is asked about. */
type ObjectSet = Pick<TupleKey, 'object_type' | 'relation' | 'object_id'>;

/** Whether the subject of a question is in an object set: the fixpoint of the rewrites, with early exit. */
class Evaluation {
  /** The tuple nearest to the object in the proof of the last TRUE; -1 when nothing was true. */
  proof = -1;
  readonly #question: Question;
  readonly #asked: ObjectSet;
  readonly #fixpoint: Fixpoint;

  constructor(question: Question, asked: ObjectSet, visits: Visits) {
    this.#question = question;
    this.#asked = asked;
    this.#fixpoint = new Fixpoint(visits);
  }

  node(type: number, relation: number, id: number, depth: number): Value {
    const question = this.#question;
    if (!question.visit()) return UNKNOWN;
    const definitions = question.model.schema.type(type);
    const definition = definitions === undefined ? null : definitions.get(relation);
    if (definition === undefined) return FALSE;
    const fixpoint = this.#fixpoint;
    const entry = fixpoint.visits.enter(type, relation, id);
    const met = fixpoint.met(entry, depth);
    if (met !== undefined) {
      if (met === TRUE) this.proof = fixpoint.visits.proof[entry]!;
      return met;
    }
    if (depth > question.request.limits.depth) {
      question.limit ??= 'depth';
      return UNKNOWN;
    }
    const { mark, low } = fixpoint;
    fixpoint.begin(entry, depth);
    const value =
      definition === null
        ? this.#direct(type, relation, id, null, depth)
        : this.#rewrite(definition, definition.rewrite, type, relation, id, depth);
    return fixpoint.finish(entry, value, depth, mark, low, this.proof);
  }

  #rewrite(
    definition: Definition,
    rewrite: Rewrite,
    type: number,
    relation: number,
    id: number,
    depth: number,
  ): Value {
    switch (rewrite.op) {
      case 'this':
        return this.#direct(type, relation, id, definition, depth);
      case 'name':
        return this.node(type, rewrite.name, id, depth + 1);
      case 'arrow':
        return this.#arrow(rewrite.through, type, rewrite.relation, id, rewrite.name, depth);
      case 'exclusion':
        return this.#exclusion(definition, rewrite.terms, type, relation, id, depth);
      default: {
        const decisive = rewrite.op === 'union' ? TRUE : FALSE;
        let value: Value = decisive === TRUE ? FALSE : TRUE;
        for (const term of rewrite.terms) {
          const one = this.#rewrite(definition, term, type, relation, id, depth);
          if (one === decisive) return one;
          if (one === UNKNOWN) value = UNKNOWN;
        }
        return value;
      }
    }
  }

  #exclusion(
    definition: Definition,
    terms: readonly Rewrite[],
    type: number,
    relation: number,
    id: number,
    depth: number,
  ): Value {
    let value = this.#rewrite(definition, terms[0]!, type, relation, id, depth);
    if (value === FALSE) return FALSE;
    const { proof } = this;
    for (let at = 1; at < terms.length; at++) {
      const left = this.#fixpoint.low;
      this.#fixpoint.low = NOTHING;
      const one = this.#rewrite(definition, terms[at]!, type, relation, id, depth);
      const relied = this.#fixpoint.low;
      this.#fixpoint.low = left;
      if (one === TRUE) return FALSE;
      this.#fixpoint.rely(relied);
      if (relied !== NOTHING) {
        // What is taken away depends on the answer itself: there is no least fixpoint.
        this.#question.limit ??= 'exclusion cycle';
        value = UNKNOWN;
      }
      if (one === UNKNOWN) value = UNKNOWN;
    }
    this.proof = proof;
    return value;
  }

  /** `this`: over the tuples of the object set whose subject has a form that the relation admits. */
  #direct(type: number, relation: number, id: number, definition: Definition | null, depth: number): Value {
    const { model, subject, subjectType, now } = this.#question;
    const { nodes, tuples } = model.facts;
    const object = nodes.find(type, relation, id);
    let value: Value = FALSE;
    if (definition === null || definition.plain.has(subjectType)) {
      if (!model.isMemberKnown(object, subject)) {
        this.#needMember(type, relation, id);
        value = UNKNOWN;
      } else if (this.#isTuple(object, subject)) {
        return TRUE;
      }
    }
    if (definition !== null && definition.usersets.length === 0 && !definition.wildcards.has(subjectType))
      return value;
    if (!model.isKnown(U, object)) {
      this.#need('U', type, relation, id);
      return UNKNOWN;
    }
    const head = object < 0 ? -1 : nodes.usersets[object]!;
    if (head < 0) return value;
    if (definition === null || definition.wildcards.has(subjectType)) {
      if (this.#isTuple(object, nodes.find(subjectType, model.facts.none, model.facts.any))) return TRUE;
    }
    let row = head;
    do {
      const userset = tuples.right[row]!;
      const through = nodes.relation[userset]!;
      const isUserset = through !== model.facts.none && tuples.expires[row]! > now;
      if (isUserset && admitsUserset(definition, nodes.type[userset]!, through)) {
        const one = this.node(nodes.type[userset]!, through, nodes.id[userset]!, depth + 1);
        if (one === TRUE) {
          this.proof = row;
          return TRUE;
        }
        if (one === UNKNOWN) value = UNKNOWN;
      } else {
        this.#question.visit();
      }
      if (this.#question.limit === 'visits') return UNKNOWN;
      row = tuples.byLeft.next[row]!;
    } while (row !== head);
    return value;
  }

  #isTuple(object: number, subject: number): boolean {
    if (object < 0 || subject < 0) return false;
    const { tuples } = this.#question.model.facts;
    const row = tuples.tuple(object, subject);
    if (row < 0 || !(tuples.expires[row]! > this.#question.now)) return false;
    this.proof = row;
    return true;
  }

  #arrow(
    through: Definition,
    type: number,
    relation: number,
    id: number,
    name: number,
    depth: number,
  ): Value {
    const { model, now } = this.#question;
    const { nodes, tuples } = model.facts;
    const object = nodes.find(type, relation, id);
    if (!model.isKnown(P, object)) {
      this.#need('P', type, relation, id);
      return UNKNOWN;
    }
    const head = object < 0 ? -1 : nodes.members[object]!;
    if (head < 0) return FALSE;
    let value: Value = FALSE;
    let row = head;
    do {
      const target = tuples.right[row]!;
      const targetType = nodes.type[target]!;
      if (tuples.expires[row]! > now && through.plain.has(targetType)) {
        const one = this.node(targetType, name, nodes.id[target]!, depth + 1);
        if (one === TRUE) {
          this.proof = row;
          return TRUE;
        }
        if (one === UNKNOWN) value = UNKNOWN;
      } else {
        this.#question.visit();
      }
      if (this.#question.limit === 'visits') return UNKNOWN;
      row = tuples.byLeft.next[row]!;
    } while (row !== head);
    return value;
  }

  #need(slice: 'U' | 'P', type: number, relation: number, id: number): void {
    this.#question.request.need({ slice, ...this.#texts(type, relation, id) });
  }

  #needMember(type: number, relation: number, id: number): void {
    const { input, request } = this.#question;
    const { subject_kind: subject_type, subject_id } = input;
    request.need({ slice: 'M', ...this.#texts(type, relation, id), subject_type, subject_id });
  }

  /** What no fact holds (-1) can only be what was asked about: every other name comes out of a fact or a definition. */
  #texts(type: number, relation: number, id: number): ObjectSet {
    const { strings } = this.#question.model.facts;
    const asked = this.#asked;
    return {
      object_type: type < 0 ? asked.object_type : strings.text(type),
      relation: relation < 0 ? asked.relation : strings.text(relation),
      object_id: id < 0 ? asked.object_id : strings.text(id),
    };
  }
}

/** Evaluations never overlap: one table serves the process. */
let shared = new Visits();

/**
 * Evaluates `type:id#relation` for the subject of a question; `proof` is the row of the tuple nearest to the object, or
 * -1. Nothing is interned for that: most checks are about resources that no fact names.
 */
export function evaluate(
  question: Question,
  object_type: string,
  relation: string,
  object_id: string,
): { readonly value: Value; readonly proof: number } {
  const { strings } = question.model.facts;
  const { limit } = question;
  const visits = shared;
  const evaluation = new Evaluation(question, { object_type, relation, object_id }, visits);
  const value = evaluation.node(
    strings.find(object_type),
    strings.find(relation),
    strings.find(object_id),
    1,
  );
  if (visits.size > KEPT) shared = new Visits();
  else visits.reset();
  // A limit met on the way to a definite answer does not matter.
  if (value !== UNKNOWN) question.limit = limit;
  return { value, proof: value === TRUE ? evaluation.proof : -1 };
}
