import { objectCandidates, subjectCandidates } from './candidates.ts';
import type { Candidates } from './candidates.ts';
import { inOrder } from './code-points.ts';
import { answer } from './decide.ts';
import { idsInPolicies, knownIds } from './known-ids.ts';
import type { Model } from './model.ts';
import { Moved, Pacing } from './pacing.ts';
import type { Suspension } from './pacing.ts';
import { Question, Request } from './question.ts';
import { firstInOrder } from './selection.ts';
import type {
  CheckInput,
  Listing,
  ListingPage,
  ListObjectsInput,
  ListOptions,
  ListSubjectsInput,
} from './types.ts';

/** Candidates examined together in partial mode, so that their missing slices are read in one statement. */
const CHUNK = 64;
/** Known ids asked for at once. */
const KNOWN_PAGE = 500;
/** Times that a page starts anew because the model moved on before it examined anything. */
const RESTARTS = 3;

/** The resources of a type that a subject may act on, a page of them. */
export function listObjects(model: Model, input: ListObjectsInput, options: ListOptions): Listing {
  return list(model, options, {
    type: input.resource_type,
    asSubject: false,
    candidates: (pacing) => objectCandidates(model, input, options, pacing),
    check: (resource_id) => ({ ...input, resource_id }),
  });
}

/** The subjects of a kind that may act on a resource, a page of them. */
export function listSubjects(model: Model, input: ListSubjectsInput, options: ListOptions): Listing {
  return list(model, options, {
    type: input.subject_kind,
    asSubject: true,
    candidates: (pacing) => subjectCandidates(model, input, options, pacing),
    check: (subject_id) => ({ ...input, subject_id }),
  });
}

/** What is listed, and how one id of it is checked. */
interface Search {
  readonly type: string;
  readonly asSubject: boolean;
  candidates(pacing: Pacing): Suspension<Candidates>;
  check(id: string): CheckInput;
}

/**
 * A page: candidates in code-point order behind `after`, each verified by the evaluator. All of a page is of one
 * revision: when the model moves on after something was examined the page ends there, before that it starts anew. If it
 * keeps moving, the known ids are scanned, which loses nothing by being read over several revisions.
 */
function* list(model: Model, options: ListOptions, search: Search): Listing {
  const pacing = new Pacing(model, options);
  const page = new Page(model, options, search, pacing);
  for (let restarts = 0; ; restarts++) {
    try {
      pacing.steady = restarts < RESTARTS;
      const { all, ids } = yield* search.candidates(pacing);
      page.allAt = all ? pacing.revision : undefined;
      yield* page.fill(restarts < RESTARTS ? ids : undefined);
      return page.result();
    } catch (error) {
      if (!(error instanceof Moved)) throw error;
      if (page.examined) return page.result();
      pacing.revision = model.revision;
    }
  }
}

class Page {
  /** The revision at which everything was found to be allowed; it says nothing of a later one. */
  allAt: number | undefined;
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
      complete: this.#complete,
      position: this.#complete ? '' : (this.#position ?? ''),
      revision: this.#pacing.revision,
    };
  }

  /** Examines the candidates, or without any the known ids, until the page is full, its time is over, or none is left. */
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

  /** Partial mode: the known ids page by page from the database. */
  *#scan(type: string, asSubject: boolean): Suspension<void> {
    const inPolicies = inOrder(idsInPolicies(this.#model, type, asSubject), this.#position);
    for (;;) {
      const after = this.#position;
      const known = yield* this.#pacing.suspend({ need: 'known', type, after, count: KNOWN_PAGE });
      if (known === undefined) throw new Error('a listing in partial mode needs the known ids');
      const last = known.ids.at(-1);
      const ordered = inOrder([...known.ids, ...inPolicies], after);
      const upTo = known.done || last === undefined ? ordered.length : ordered.indexOf(last) + 1;
      const ended = yield* this.#examine(ordered.slice(0, upTo));
      this.#complete = ended && (known.done || last === undefined);
      if (this.#complete || !ended || this.#isFull || this.#pacing.isOver) return;
    }
  }

  get #isFull(): boolean {
    return this.#ids.length === this.#options.limit;
  }

  /** Whether it came to the end of the candidates. */
  *#examine(candidates: readonly string[]): Suspension<boolean> {
    for (let at = 0; at < candidates.length;) {
      yield* this.#pacing.pause();
      const request = new Request(this.#options.now, this.#options.limits, Number.MAX_SAFE_INTEGER);
      const verdicts: boolean[] = [];
      const chunk = this.#model.slices === null ? 1 : CHUNK;
      for (const id of candidates.slice(at, at + chunk)) {
        verdicts.push(answer(new Question(this.#model, this.#search.check(id), request)).answer.allowed);
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
        // From the first id examined on, a page is of one revision.
        this.examined = this.#pacing.steady = true;
        if (this.#isFull) return at === candidates.length;
      }
      if (this.#pacing.isOver) return at === candidates.length;
    }
    return true;
  }
}
