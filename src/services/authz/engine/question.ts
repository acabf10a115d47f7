import type { Model } from './model.ts';
import type { CompiledPolicy } from './policies.ts';
import { sliceText } from './slices.ts';
import type { CheckInput, Limits, Pace, SliceKey } from './types.ts';

/** The id of a subject about which nothing is known: an id from a caller never contains a control character. */
export const stranger = '\u0000';
/** Units of work between two checks of the clock. A unit is about the cost of comparing one character. */
const workPerLook = 20_000;

/** The part of a policy's result that needs no facts. */
export interface Verdict {
  readonly literally: boolean;
  /** Indexes of the conditions that do not hold. */
  readonly failing: readonly number[];
  /** Whether one of the conditions met a value too long to test. */
  readonly isTooLong: boolean;
}

/** State shared by the checks of one request: the slices they lack, each once, and the remaining visits. */
export class Request {
  readonly now: number;
  readonly limits: Limits;
  /** Nodes that all checks of the request together may still visit. */
  visits: number;
  /** Whether it is another task's turn to run: work that can continue later stops here. */
  isPauseDue = false;
  /** Whether time has run out: everything undecided is denied. */
  isOver = false;
  /** Whether nothing may pause now, because the model temporarily holds an assumed fact. */
  isSteady = false;
  /** Known results of policies, when all checks of the request share their subject and circumstances. */
  verdicts: ReadonlyMap<CompiledPolicy, Verdict> | undefined;
  readonly #pace: Pace | undefined;
  /** Made when it is needed: most checks lack nothing. */
  #missing: Map<string, SliceKey> | undefined;
  #work = 0;

  constructor(now: number, limits: Limits, visits: number, pace?: Pace) {
    this.now = now;
    this.limits = limits;
    this.visits = visits;
    this.#pace = pace;
    this.verdicts = undefined;
  }

  /** Pauses between two questions when a pause is due. */
  *breathe(): Generator<undefined, void, undefined> {
    this.lookAtClock();
    if (!this.isPauseDue) return;
    yield;
    this.isPauseDue = false;
  }

  /** Reads the clock and updates `isPauseDue` and `isOver`. */
  lookAtClock(): void {
    if (this.#pace === undefined) return;
    this.#work = 0;
    this.isPauseDue = !this.isSteady && this.#pace.isPauseDue;
    this.isOver = this.#pace.isOver;
  }

  /** Counts work. The clock is read only once per `workPerLook` units. */
  spend(work: number): void {
    this.#work += work;
    if (this.#work >= workPerLook) this.lookAtClock();
  }

  need(key: SliceKey): void {
    (this.#missing ??= new Map()).set(sliceText(key), key);
  }

  get missingCount(): number {
    return this.#missing?.size ?? 0;
  }

  missing(): SliceKey[] {
    return [...(this.#missing?.values() ?? [])];
  }
}

/** One check as it passes through the three models. */
export class Question {
  readonly model: Model;
  readonly input: CheckInput;
  readonly request: Request;
  /** The resource id, or `''` for a type-level question. */
  readonly resourceId: string;
  /** The node of the subject, or -1 when no fact refers to it. */
  subject: number;
  subjectType: number;
  /** Why an evaluation gave up: `depth`, `visits`, `exclusion cycle`, `wildcard behind an arrow`, `condition` or `time`. */
  limit: string | undefined;
  /** The numbers of the roles that the subject holds for this resource, including inherited ones. Computed on first use. */
  held: ReadonlySet<number> | undefined;
  /** The current stage of the check, at which it resumes after a pause. */
  stage: 'denials' | 'allowances' = 'denials';
  /** The state of the current policy list: positions of policies that may match, the next position, and its next condition. */
  list: readonly number[] | undefined;
  at = 0;
  condition = 0;
  /** Number of visits of this check. */
  visits = 0;

  constructor(model: Model, input: CheckInput, request: Request) {
    const { strings, nodes, none } = model.facts;
    this.model = model;
    this.input = input;
    this.request = request;
    this.resourceId = input.resource_id ?? '';
    this.subjectType = strings.find(input.subject_kind);
    this.subject = nodes.find(this.subjectType, none, strings.find(input.subject_id));
    this.limit = undefined;
    this.held = undefined;
    this.list = undefined;
  }

  /** Resumes after a pause. Slices may have arrived meanwhile, and with them numbers for texts that had none. */
  resume(): void {
    const { strings, nodes, none } = this.model.facts;
    this.request.isPauseDue = false;
    this.subjectType = strings.find(this.input.subject_kind);
    this.subject = nodes.find(this.subjectType, none, strings.find(this.input.subject_id));
    this.held = undefined;
  }

  get now(): number {
    return this.request.now;
  }

  /** Counts a visit. Returns false when the check or its request has used all its visits. */
  visit(): boolean {
    if (++this.visits <= this.request.limits.visits && --this.request.visits >= 0) return true;
    this.limit = 'visits';
    return false;
  }
}

/** Cuts the text of a reason, detail or path to the length that the contract allows. */
export function cut(text: string, length = 512): string {
  if (text.length <= length) return text;
  const end = text.charCodeAt(length - 1) >> 10 === 0x36 ? length - 1 : length;
  return text.slice(0, end);
}
