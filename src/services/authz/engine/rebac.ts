import { Breadth } from './breadth.ts';
import { Fixpoint, reliesOnNothing } from './fixpoint.ts';
import type { Value } from './fixpoint.ts';
import type { Question } from './question.ts';
import { Rewrites } from './rewrites.ts';
import type { ObjectSet } from './rewrites.ts';
import { FALSE, TRUE, UNKNOWN, Visits } from './visits.ts';

/** A table that grew beyond this many nodes is released after the evaluation. */
const mostNodesKept = 65_536;
/** Cost, in units of `Request.spend`, of a visit. */
const visitWork = 50;
/** Visits for which a search continues after it reached the depth limit, since a proof may still be near. */
const visitsBeyondDepth = 1_000;

/** Decides whether the subject of a question is in an object set: the fixpoint of the rewrites, depth first with early exit. */
class Evaluation extends Rewrites {
  readonly #fixpoint: Fixpoint;
  /** The number of visits at which a search that reached the depth limit gives up. */
  #patience = Infinity;

  constructor(question: Question, asked: ObjectSet, visits: Visits) {
    super(question, asked);
    this.#fixpoint = new Fixpoint(visits);
  }

  node(type: number, relation: number, id: number, depth: number): Value {
    const question = this.question;
    if (!question.visit() || question.visits > this.#patience) {
      this.stopped = true;
      return UNKNOWN;
    }
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
      this.#patience = Math.min(this.#patience, question.visits + visitsBeyondDepth);
      return UNKNOWN;
    }
    const { mark, low } = fixpoint;
    fixpoint.begin(entry, depth);
    const value = this.value(definition, type, relation, id, depth);
    return fixpoint.finish(entry, value, depth, mark, low, this.proof);
  }

  protected override enterExcluded(): number {
    const { low } = this.#fixpoint;
    this.#fixpoint.low = reliesOnNothing;
    return low;
  }

  protected override leaveExcluded(low: number): boolean {
    const relied = this.#fixpoint.low;
    this.#fixpoint.low = low;
    this.#fixpoint.rely(relied);
    return relied !== reliesOnNothing;
  }
}

/** Evaluations never overlap, so one table serves the process. */
let shared = new Visits();

/**
 * Evaluates `type:id#relation` for the subject of a question. `proof` is the row of the tuple nearest to the object, or -1.
 * Nothing is interned for the evaluation: most checks are about resources that no fact names.
 *
 * A depth-first search finds most answers at once, but its path to a node may be longer than necessary. Where that path reached
 * the depth limit, a breadth-first search looks for the answer again.
 */
export function evaluate(
  question: Question,
  object_type: string,
  relation: string,
  object_id: string,
): { readonly value: Value; readonly proof: number } {
  const { strings } = question.model.facts;
  const { limit, request, visits: before } = question;
  const asked = { object_type, relation, object_id };
  const [type, name, id] = [strings.find(object_type), strings.find(relation), strings.find(object_id)];
  const visits = shared;
  const evaluation = new Evaluation(question, asked, visits);
  let value = evaluation.node(type, name, id, 1);
  let { proof } = evaluation;
  if (visits.size > mostNodesKept) shared = new Visits();
  else visits.reset();
  if (value === UNKNOWN && question.limit === 'depth' && limit === undefined && request.missingCount === 0) {
    question.limit = undefined;
    const breadth = new Breadth(question, asked);
    value = breadth.evaluate(type, name, id);
    ({ proof } = breadth);
  }
  request.spend((question.visits - before) * visitWork);
  // A limit reached on the way to a definite answer does not matter.
  if (value !== UNKNOWN) question.limit = limit;
  return { value, proof: value === TRUE ? proof : -1 };
}
