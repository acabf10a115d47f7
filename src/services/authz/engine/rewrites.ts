import type { Value } from './fixpoint.ts';
import { stranger } from './question.ts';
import type { Question } from './question.ts';
import type { Definition, Rewrite } from './schema.ts';
import { admitsUserset } from './schema.ts';
import { P, U } from './slices.ts';
import type { TupleKey } from './types.ts';
import { FALSE, TRUE, UNKNOWN } from './visits.ts';

/** Terms of expressions that may be evaluated per visit that a check may make. */
const termsPerVisit = 4;

/** The object set that the question asks about. */
export type ObjectSet = Pick<TupleKey, 'object_type' | 'relation' | 'object_id'>;

/** Computes the value of an object set's rewrites from the values of the nodes they lead to. */
export abstract class Rewrites {
  /** The tuple nearest to the object in the proof of the last TRUE, or -1 when nothing was true. */
  proof = -1;
  /** Whether the search has been given up, so that unknown values stay unknown. */
  stopped = false;
  protected readonly question: Question;
  readonly #asked: ObjectSet;
  #terms = 0;

  constructor(question: Question, asked: ObjectSet) {
    this.question = question;
    this.#asked = asked;
  }

  /** Returns the value of a node that a rewrite leads to. */
  abstract node(type: number, relation: number, id: number, depth: number): Value;

  /** Begins a subtracted term. The result is passed to `leaveExcluded`. */
  protected abstract enterExcluded(): number;

  /** Ends a subtracted term. Returns whether the term relied on the value from which it is subtracted. */
  protected abstract leaveExcluded(entered: number): boolean;

  /** A node of a type without a definition (null) has only its tuples. */
  protected value(
    definition: Definition | null,
    type: number,
    relation: number,
    id: number,
    depth: number,
  ): Value {
    return definition === null
      ? this.#direct(type, relation, id, null, depth)
      : this.#rewrite(definition, definition.rewrite, type, relation, id, depth);
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
        this.#countTerms(rewrite.terms.length);
        for (const term of rewrite.terms) {
          const one = this.#rewrite(definition, term, type, relation, id, depth);
          if (one === decisive) return one;
          if (one === UNKNOWN) value = UNKNOWN;
          if (this.stopped) return UNKNOWN;
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
    this.#countTerms(terms.length);
    for (let at = 1; at < terms.length; at++) {
      if (this.stopped) return UNKNOWN;
      const entered = this.enterExcluded();
      const one = this.#rewrite(definition, terms[at]!, type, relation, id, depth);
      const relied = this.leaveExcluded(entered);
      if (one === TRUE) return FALSE;
      if (relied) {
        // The subtracted term depends on the answer itself, so there is no least fixpoint.
        this.question.limit ??= 'exclusion cycle';
        value = UNKNOWN;
      }
      if (one === UNKNOWN) value = UNKNOWN;
    }
    this.proof = proof;
    return value;
  }

  /** Evaluates `this`: the tuples of the object set whose subject has a form that the relation admits. */
  #direct(type: number, relation: number, id: number, definition: Definition | null, depth: number): Value {
    const { model, subject, subjectType, now } = this.question;
    const { nodes, tuples } = model.facts;
    const object = nodes.find(type, relation, id);
    let value: Value = FALSE;
    if (definition === null || definition.plain.has(subjectType)) {
      if (!model.isMemberKnown(object, subject)) {
        if (this.question.input.subject_id !== stranger) {
          this.#needMember(type, relation, id);
          value = UNKNOWN;
        }
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
        this.#pass();
      }
      if (this.stopped) return UNKNOWN;
      row = tuples.byLeft.next[row]!;
    } while (row !== head);
    return value;
  }

  #isTuple(object: number, subject: number): boolean {
    if (object < 0 || subject < 0) return false;
    const { tuples } = this.question.model.facts;
    const row = tuples.tuple(object, subject);
    if (row < 0 || !(tuples.expires[row]! > this.question.now)) return false;
    this.proof = row;
    return true;
  }

  /**
   * Evaluates `through->name` over the objects that the tuples of a relation lead to. A userset `group:eng#member` leads to the
   * object `group:eng`, which is evaluated for the name behind the arrow, not for the userset's own relation.
   */
  #arrow(
    through: Definition,
    type: number,
    relation: number,
    id: number,
    name: number,
    depth: number,
  ): Value {
    const { model } = this.question;
    const { nodes } = model.facts;
    const object = nodes.find(type, relation, id);
    const objects = through.plain.size > 0;
    const sets = through.usersets.length > 0 || through.wildcards.size > 0;
    let value: Value = FALSE;
    if (objects && !model.isKnown(P, object)) {
      this.#need('P', type, relation, id);
      value = UNKNOWN;
    }
    if (sets && !model.isKnown(U, object)) {
      this.#need('U', type, relation, id);
      value = UNKNOWN;
    }
    if (object < 0) return value;
    if (objects) {
      const one = this.#targets(through, nodes.members[object]!, name, depth);
      if (one !== FALSE) value = one;
    }
    if (sets && value !== TRUE && !this.stopped) {
      const one = this.#targets(through, nodes.usersets[object]!, name, depth);
      if (one !== FALSE) value = one;
    }
    return value;
  }

  /** Evaluates the objects behind one list of tuples. */
  #targets(through: Definition, head: number, name: number, depth: number): Value {
    const { model, now } = this.question;
    const { nodes, tuples, none, any } = model.facts;
    if (head < 0) return FALSE;
    let value: Value = FALSE;
    let row = head;
    do {
      const target = tuples.right[row]!;
      const type = nodes.type[target]!;
      const relation = nodes.relation[target]!;
      const isAny = relation === none && nodes.id[target] === any;
      if (!(tuples.expires[row]! > now)) {
        this.#pass();
      } else if (isAny && through.wildcards.has(type)) {
        // New types cannot declare this: a wildcard does not say which objects it leads to.
        this.question.limit ??= 'wildcard behind an arrow';
        value = UNKNOWN;
      } else if (
        relation === none ? !isAny && through.plain.has(type) : admitsUserset(through, type, relation)
      ) {
        const one = this.node(type, name, nodes.id[target]!, depth + 1);
        if (one === TRUE) {
          this.proof = row;
          return TRUE;
        }
        if (one === UNKNOWN) value = UNKNOWN;
      } else {
        this.#pass();
      }
      if (this.stopped) return UNKNOWN;
      row = tuples.byLeft.next[row]!;
    } while (row !== head);
    return value;
  }

  /** Counts a tuple that leads nowhere. */
  #pass(): void {
    if (!this.question.visit()) this.stopped = true;
  }

  /** Counts terms, because an expression may have many terms that visit nothing but still take time. */
  #countTerms(count: number): void {
    this.#terms += count;
    if (this.#terms <= this.question.request.limits.visits * termsPerVisit) return;
    this.question.limit = 'visits';
    this.stopped = true;
  }

  #need(slice: 'U' | 'P', type: number, relation: number, id: number): void {
    this.question.request.need({ slice, ...this.#texts(type, relation, id) });
  }

  #needMember(type: number, relation: number, id: number): void {
    const { input, request } = this.question;
    const { subject_kind: subject_type, subject_id } = input;
    request.need({ slice: 'M', ...this.#texts(type, relation, id), subject_type, subject_id });
  }

  /**
   * Returns the texts of a node. A part that no fact holds (-1) is the part in the question: every other name comes from a fact
   * or a definition.
   */
  #texts(type: number, relation: number, id: number): ObjectSet {
    const { strings } = this.question.model.facts;
    const asked = this.#asked;
    return {
      object_type: type < 0 ? asked.object_type : strings.text(type),
      relation: relation < 0 ? asked.relation : strings.text(relation),
      object_id: id < 0 ? asked.object_id : strings.text(id),
    };
  }
}
