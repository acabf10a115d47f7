import type { Attributes, DecideOptions, SliceKey } from './types.ts';

export interface ListObjectsInput {
  readonly subject_kind: string;
  readonly subject_id: string;
  readonly action: string;
  readonly resource_type: string;
  readonly context?: Attributes | undefined;
  readonly subject_attributes?: Attributes | undefined;
  readonly resource_attributes?: Attributes | undefined;
  readonly action_attributes?: Attributes | undefined;
}

export type ListSubjectsInput = Omit<ListObjectsInput, 'subject_id'> & {
  readonly resource_id?: string | undefined;
};

export interface ListOptions extends DecideOptions {
  /** Ids per page, 1-1,000. */
  readonly limit: number;
  /** The last id that the previous page examined (`position` of its result), or undefined at the start. */
  readonly after?: string | undefined;
  /** `PLINTH_AUTHZ_LIST_BUDGET` in milliseconds. */
  readonly budget: number;
  /** Returns monotonic milliseconds for the budget and the pauses. This is `performance.now` outside tests. */
  readonly clock: () => number;
  /** Nodes after which the walk is abandoned for a scan of the known ids: 100,000 unless a test lowers it. */
  readonly walk?: number;
}

/**
 * What a listing yields before its result. The caller resumes with `next(…)`:
 * - `missing`: fetch the slices and `addSlices` them as for a check, then `next()`;
 * - `known`: `next({ ids, done })` with up to `count` distinct ids greater than `after`, in code-point order, that occur with
 *   type `type` in tuples (as object or subject) or assignments (as subject or scope), read at the model's revision or later;
 *   `done` when none follow. Requested in partial mode only;
 * - `pause`: ~10 ms have passed; return to the event loop (`setImmediate`), then `next()`.
 * The model may change while the listing is suspended: the listing notices and ends the page with results of one revision.
 */
export type ListingStep =
  | { readonly need: 'missing'; readonly slices: readonly SliceKey[] }
  | {
      readonly need: 'known';
      readonly type: string;
      readonly after: string | undefined;
      readonly count: number;
    }
  | { readonly need: 'pause' };

export interface KnownIds {
  readonly ids: readonly string[];
  readonly done: boolean;
}

export interface ListingPage {
  readonly ids: readonly string[];
  /** Whether every id of the type is allowed, known or not. */
  readonly all: boolean;
  /** Whether every id of the type that is not known is allowed. */
  readonly others: boolean;
  readonly complete: boolean;
  /** The value that the cursor must carry as `after`; `''` when complete. */
  readonly position: string;
  /** The revision at which every id of the page was allowed. */
  readonly revision: number;
}

export type Listing = Generator<ListingStep, ListingPage, KnownIds | undefined>;
