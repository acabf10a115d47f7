import { objectCandidates, subjectCandidates } from './candidates.ts';
import type { Candidates } from './candidates.ts';
import { compareCodePoints, inOrder } from './code-points.ts';
import { answerInSlices } from './decide.ts';
import { idsInPolicies, knownIds } from './known-ids.ts';
import type { Model } from './model.ts';
import { Moved, Pacing } from './pacing.ts';
import type { Suspension } from './pacing.ts';
import { Question, Request } from './question.ts';
import { firstInOrder, inOrderInSlices } from './selection.ts';
import type {
  CheckInput,
  Listing,
  ListingPage,
  ListObjectsInput,
  ListOptions,
  ListSubjectsInput,
} from './types.ts';

/** Candidates examined together in partial mode, so that their missing slices are read in one statement. */
const candidatesPerChunk = 64;
/** Known ids requested at once. */
const knownIdsPerPage = 500;
/** How many times a page restarts because the model moved on before the page examined anything. */
const mostRestarts = 3;

/** Returns a page of the resources of a type that a subject may act on. */
export function listObjects(model: Model, input: ListObjectsInput, options: ListOptions): Listing {
  return list(model, options, {
    type: input.resource_type,
    asSubject: false,
    candidates: (pacing) => objectCandidates(model, input, options, pacing),
    check: (resource_id) => ({ ...input, resource_id }),
  });
}

/** Returns a page of the subjects of a kind that may act on a resource. */
export function listSubjects(model: Model, input: ListSubjectsInput, options: ListOptions): Listing {
  return list(model, options, {
    type: input.subject_kind,
    asSubject: true,
    candidates: (pacing) => subjectCandidates(model, input, options, pacing),
    check: (subject_id) => ({ ...input, subject_id }),
  });
}

/** What to list, and how to check one id of it. */
interface Search {
  readonly type: string;
  readonly asSubject: boolean;
  candidates(pacing: Pacing): Suspension<Candidates>;
  check(id: string): CheckInput;
}

/**
 * Lists one page: candidates in code-point order after `after`, each verified by the evaluator. A page belongs to one revision:
 * when the model moves on, the page ends if it has examined anything, and restarts otherwise. If the model keeps moving, the
 * listing scans the known ids, which loses nothing by being read over several revisions.
 */
function* list(model: Model, options: ListOptions, search: Search): Listing {
  const pacing = new Pacing(model, options);
  const page = new Page(model, options, search, pacing);
  for (let restarts = 0; ; restarts++) {
    try {
      pacing.steady = restarts < mostRestarts;
      const { all, others, ids } = yield* search.candidates(pacing);
      page.allAt = all ? pacing.revision : undefined;
      page.othersAt = others ? pacing.revision : undefined;
      yield* page.fill(restarts < mostRestarts ? ids : undefined);
      return page.result();
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      if (page.examined) return page.result();
      pacing.revision = model.revision;
    }
  }
}

class Page {
  /** The revision at which everything was found to be allowed. It does not apply to a later revision. */
  allAt: number | undefined;
  /** The same for everything that is not known. */
  othersAt: number | undefined;
  examined = false;
  readonly #ids: string[] = [];
  /** The last id examined. */
  #position: string | undefined;
  #complete = false;
  readonly #model: Model;
  readonly #options: ListOptions;
  readonly #search: Search;
  readonly #pacing: Pacing;

  constructor(model: Model, options: ListOptions, search: Search, pacing: Pacing) {
    this.#model = model;
    this.#options = options;
    this.#search = search;
    this.#pacing = pacing;
    this.#position = options.after;
  }

  result(): ListingPage {
    return {
      ids: this.#ids,
      all: this.allAt === this.#pacing.revision,
      others: this.othersAt === this.#pacing.revision,
      complete: this.#complete,
      position: this.#complete ? '' : (this.#position ?? ''),
      revision: this.#pacing.revision,
    };
  }

  /** Examines the candidates, or the known ids when there are no candidates, until the page is full, time runs out, or none is left. */
  *fill(candidates: ReadonlySet<string> | undefined): Suspension<void> {
    const { type, asSubject } = this.#search;
    if (candidates === undefined && this.#model.slices !== null) return yield* this.#scan(type, asSubject);
    const ids =
      candidates ?? (yield* knownIds(this.#model, type, asSubject, this.#options.now, this.#pacing));
    for (let count = this.#options.limit * 2; ; count *= 4) {
      const some = yield* firstInOrder(ids, this.#position, count, this.#pacing);
      const ended = yield* this.#examine(some);
      this.#complete = ended && some.length < count;
      if (this.#complete || !ended || this.#isFull || this.#pacing.isOver) return;
    }
  }

  /** Partial mode: reads the known ids page by page from the database. */
  *#scan(type: string, asSubject: boolean): Suspension<void> {
    const named = yield* idsInPolicies(this.#model, type, asSubject, this.#pacing);
    const inPolicies = yield* inOrderInSlices(named, this.#position, this.#pacing);
    for (let at = 0; ;) {
      const after = this.#position;
      const known = yield* this.#pacing.suspend({ need: 'known', type, after, count: knownIdsPerPage });
      if (known === undefined) throw new Error('a listing in partial mode needs the known ids');
      const last = known.done ? undefined : known.ids.at(-1);
      const from = at;
      while (at < inPolicies.length && (last === undefined || compareCodePoints(inPolicies[at]!, last) <= 0))
        at++;
      const ordered = inOrder([...known.ids, ...inPolicies.slice(from, at)], after);
      const ended = yield* this.#examine(ordered);
      this.#complete = ended && last === undefined;
      if (this.#complete || !ended || this.#isFull || this.#pacing.isOver) return;
    }
  }

  get #isFull(): boolean {
    return this.#ids.length === this.#options.limit;
  }

  /** Returns whether it reached the end of the candidates. */
  *#examine(candidates: readonly string[]): Suspension<boolean> {
    for (let at = 0; at < candidates.length;) {
      yield* this.#pacing.pause();
      const { now, limits } = this.#options;
      const request = new Request(now, limits, Number.MAX_SAFE_INTEGER, this.#pacing.pace());
      const verdicts: boolean[] = [];
      const chunk = this.#model.slices === null ? 1 : candidatesPerChunk;
      for (const id of candidates.slice(at, at + chunk)) {
        const question = new Question(this.#model, this.#search.check(id), request);
        verdicts.push((yield* this.#pacing.through(answerInSlices(question))).answer.allowed);
        if (this.#pacing.isPauseDue) break;
      }
      if (request.missingCount > 0) {
        yield* this.#pacing.suspend({ need: 'missing', slices: request.missing() });
        continue;
      }
      for (const allowed of verdicts) {
        const id = candidates[at++] ?? '';
        if (allowed) this.#ids.push(id);
        this.#position = id;
        // From the first examined id on, a page belongs to one revision.
        this.examined = this.#pacing.steady = true;
        if (this.#isFull) return at === candidates.length;
      }
      if (this.#pacing.isOver) return at === candidates.length;
    }
    return true;
  }
}
