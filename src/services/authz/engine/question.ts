import type { Model } from './model.ts';
import { sliceText } from './slices.ts';
import type { CheckInput, Limits, SliceKey } from './types.ts';

/** What the checks of one request share: the slices they lack, each once, and what is left of the visits. */
export class Request {
  readonly now: number;
  readonly limits: Limits;
  /** Nodes that all checks of the request together may still visit. */
  visits: number;
  readonly #missing = new Map<string, SliceKey>();

  constructor(now: number, limits: Limits, visits: number) {
    this.now = now;
    this.limits = limits;
    this.visits = visits;
  }

  need(key: SliceKey): void {
    this.#missing.set(sliceText(key), key);
  }

  get missingCount(): number {
    return this.#missing.size;
  }

  missing(): SliceKey[] {
    return [...this.#missing.values()];
  }
}

/** One check on its way through the three models. */
export class Question {
  readonly model: Model;
  readonly input: CheckInput;
  readonly request: Request;
  /** The resource id, `''` on a type-level question. */
  readonly resourceId: string;
  /** The node of the subject, -1 when no fact is about it. */
  readonly subject: number;
  readonly subjectType: number;
  /** Why an evaluation gave up: `depth`, `visits` or `exclusion cycle`. */
  limit: string | undefined;
  /** Visits of this check. */
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
  }

  get now(): number {
    return this.request.now;
  }

  /** Counts a visit; false when the check or its request has had all it may. */
  visit(): boolean {
    if (++this.visits <= this.request.limits.visits && --this.request.visits >= 0) return true;
    this.limit = 'visits';
    return false;
  }
}

/** The texts of reasons, details and paths are cut to what the contract allows. */
export function cut(text: string, length = 512): string {
  if (text.length <= length) return text;
  const end = text.charCodeAt(length - 1) >> 10 === 0x36 ? length - 1 : length;
  return text.slice(0, end);
}
