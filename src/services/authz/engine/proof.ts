import type { Question } from './question.ts';
import { evaluate } from './rebac.ts';
import type { Definition, Rewrite } from './schema.ts';
import { admitsUserset } from './schema.ts';
import { P, U } from './slices.ts';
import { TRUE } from './visits.ts';

/** Maximum number of nodes examined for the shortest proof. A wider graph is explained by its decision alone. */
const mostNodes = 2_000;
/** Maximum number of tuples examined per node. */
const mostRows = 5_000;
/** Cost, in units of `Request.spend`, of a node, and of a tuple. */
const nodeWork = 200;
const rowWork = 50;

interface ProofNode {
  readonly type: string;
  readonly relation: string;
  readonly id: string;
  /** Rows of the smallest set of tuples found so far that proves the node. Undefined while there is none. */
  best: ReadonlySet<number> | undefined;
}

type Proof = ReadonlySet<number> | undefined;

/**
 * Returns the rows of the smallest set of tuples that proves `type:id#relation`, outermost first: the search improves proofs
 * until none gets shorter. It reports missing slices to the question.
 */
export function* shortestProof(
  question: Question,
  type: string,
  relation: string,
  id: string,
): Generator<undefined, number[], undefined> {
  const search = new ProofSearch(question);
  const root = search.node(type, relation, id);
  yield* search.run();
  return [...(root.best ?? [])];
}

class ProofSearch {
  readonly #question: Question;
  readonly #nodes = new Map<string, ProofNode>();
  /** Tuples examined since the last node. */
  #rows = 0;

  constructor(question: Question) {
    this.#question = question;
  }

  node(type: string, relation: string, id: string): ProofNode {
    const key = JSON.stringify([type, relation, id]);
    let node = this.#nodes.get(key);
    if (node === undefined) {
      node = { type, relation, id, best: undefined };
      if (this.#nodes.size < mostNodes) this.#nodes.set(key, node);
    }
    return node;
  }

  /** The loop over the map also reaches nodes added during the loop. */
  *run(): Generator<undefined, void, undefined> {
    const { request } = this.#question;
    for (let improved = true; improved;) {
      improved = false;
      for (const node of this.#nodes.values()) {
        request.spend(nodeWork + rowWork * this.#rows);
        this.#rows = 0;
        if (request.isOver) return;
        if (request.isPauseDue) {
          yield;
          this.#question.resume();
        }
        const proof = this.#prove(node);
        if (proof === undefined || (node.best !== undefined && node.best.size <= proof.size)) continue;
        node.best = proof;
        improved = true;
      }
    }
  }

  #prove(node: ProofNode): Proof {
    const { schema, facts } = this.#question.model;
    const type = schema.type(facts.strings.find(node.type));
    if (type === undefined) return this.#direct(node, null);
    const definition = type.get(facts.strings.find(node.relation));
    return definition === undefined ? undefined : this.#rewrite(node, definition, definition.rewrite);
  }

  #rewrite(node: ProofNode, definition: Definition, rewrite: Rewrite): Proof {
    const { strings } = this.#question.model.facts;
    switch (rewrite.op) {
      case 'this':
        return this.#direct(node, definition);
      case 'name':
        return this.node(node.type, strings.text(rewrite.name), node.id).best;
      case 'arrow':
        return this.#arrow(node, rewrite.through, strings.text(rewrite.relation), strings.text(rewrite.name));
      case 'union':
        return rewrite.terms.map((term) => this.#rewrite(node, definition, term)).reduce(shorter);
      case 'intersection':
        return rewrite.terms.map((term) => this.#rewrite(node, definition, term)).reduce(both);
      case 'exclusion': {
        const [kept, ...removed] = rewrite.terms;
        if (kept === undefined || removed.some((term) => this.#holds(node, definition, term)))
          return undefined;
        return this.#rewrite(node, definition, kept);
      }
    }
  }

  /** Whether a subtracted term holds. It adds no tuple to a proof. */
  #holds(node: ProofNode, definition: Definition, rewrite: Rewrite): boolean {
    const { strings } = this.#question.model.facts;
    const isIn = (type: string, relation: string, id: string) =>
      evaluate(this.#question, type, relation, id).value === TRUE;
    switch (rewrite.op) {
      case 'name':
        return isIn(node.type, strings.text(rewrite.name), node.id);
      case 'this':
        return this.#subjects(node, definition, isIn);
      case 'arrow':
        return this.#targets(node, rewrite.through, strings.text(rewrite.relation)).some(({ type, id }) =>
          isIn(type, strings.text(rewrite.name), id),
        );
      case 'union':
        return rewrite.terms.some((term) => this.#holds(node, definition, term));
      case 'intersection':
        return rewrite.terms.every((term) => this.#holds(node, definition, term));
      case 'exclusion':
        return rewrite.terms.every((term, index) => this.#holds(node, definition, term) === (index === 0));
    }
  }

  #subjects(
    node: ProofNode,
    definition: Definition,
    isIn: (t: string, r: string, i: string) => boolean,
  ): boolean {
    const proof = this.#plain(node, definition);
    return (
      proof !== undefined ||
      this.#usersets(node, definition).some(({ type, relation, id }) => isIn(type, relation, id))
    );
  }

  #direct(node: ProofNode, definition: Definition | null): Proof {
    let best = this.#plain(node, definition);
    if (best !== undefined) return best;
    for (const { row, type, relation, id } of this.#usersets(node, definition)) {
      const rest = this.node(type, relation, id).best;
      if (rest !== undefined) best = shorter(best, new Set([row, ...rest]));
    }
    return best;
  }

  #arrow(node: ProofNode, through: Definition, relation: string, name: string): Proof {
    let best: Proof;
    for (const { row, type, id } of this.#targets(node, through, relation)) {
      const rest = this.node(type, name, id).best;
      if (rest !== undefined) best = shorter(best, new Set([row, ...rest]));
    }
    return best;
  }

  /** Finds a tuple whose subject is the question's subject itself or the wildcard of its type. */
  #plain(node: ProofNode, definition: Definition | null): Proof {
    const { model, subject, subjectType, input, now } = this.#question;
    const { nodes, tuples, none, any } = model.facts;
    const object = nodes.findNamed(node.type, node.relation, node.id);
    const isLive = (row: number) => row >= 0 && tuples.expires[row]! > now;
    if (definition === null || definition.plain.has(subjectType)) {
      if (!model.isMemberKnown(object, subject)) {
        this.#need('M', node, { subject_type: input.subject_kind, subject_id: input.subject_id });
      } else {
        const row = tuples.tuple(object, subject);
        if (isLive(row)) return new Set([row]);
      }
    }
    if (definition !== null && !definition.wildcards.has(subjectType)) return undefined;
    if (!model.isKnown(U, object)) return this.#need('U', node);
    const row = tuples.tuple(object, nodes.find(subjectType, none, any));
    return isLive(row) ? new Set([row]) : undefined;
  }

  #usersets(node: ProofNode, definition: Definition | null) {
    if (definition?.usersets.length === 0) return [];
    const { model, now } = this.#question;
    const { facts } = model;
    const object = facts.nodes.findNamed(node.type, node.relation, node.id);
    if (!model.isKnown(U, object)) this.#need('U', node);
    return this.#some(facts.usersetsOf(object))
      .filter((row) => facts.tuples.expires[row]! > now)
      .map((row) => ({ row, subject: facts.tuples.right[row]! }))
      .filter(({ subject }) => facts.nodes.relation[subject] !== facts.none)
      .filter(({ subject }) =>
        admitsUserset(definition, facts.nodes.type[subject]!, facts.nodes.relation[subject]!),
      )
      .map(({ row, subject }) => ({
        row,
        type: facts.nodes.typeOf(subject),
        relation: facts.nodes.relationOf(subject),
        id: facts.nodes.idOf(subject),
      }));
  }

  #targets(node: ProofNode, through: Definition, relation: string) {
    const { model, now } = this.#question;
    const { facts } = model;
    const object = facts.nodes.findNamed(node.type, relation, node.id);
    if (!model.isKnown(P, object)) this.#need('P', { ...node, relation });
    if (!model.isKnown(U, object)) this.#need('U', { ...node, relation });
    const { nodes } = facts;
    const leadsOn = (subject: number) =>
      nodes.relation[subject] === facts.none
        ? nodes.id[subject] !== facts.any && through.plain.has(nodes.type[subject]!)
        : admitsUserset(through, nodes.type[subject]!, nodes.relation[subject]!);
    return this.#some([...facts.membersOf(object), ...facts.usersetsOf(object)])
      .map((row) => ({ row, subject: facts.tuples.right[row]! }))
      .filter(({ row, subject }) => facts.tuples.expires[row]! > now && leadsOn(subject))
      .map(({ row, subject }) => ({ row, type: facts.nodes.typeOf(subject), id: facts.nodes.idOf(subject) }));
  }

  #some(rows: readonly number[]): readonly number[] {
    const some = rows.slice(0, mostRows);
    this.#rows += some.length;
    return some;
  }

  #need(
    slice: 'M' | 'U' | 'P',
    { type, relation, id }: ProofNode,
    subject?: { subject_type: string; subject_id: string },
  ) {
    const object = { object_type: type, relation, object_id: id };
    if (slice !== 'M') this.#question.request.need({ slice, ...object });
    else if (subject !== undefined) this.#question.request.need({ slice, ...object, ...subject });
    return undefined;
  }
}

const shorter = (a: Proof, b: Proof): Proof =>
  a === undefined || (b !== undefined && b.size < a.size) ? b : a;
const both = (a: Proof, b: Proof): Proof =>
  a === undefined || b === undefined ? undefined : new Set([...a, ...b]);
