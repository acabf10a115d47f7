/** The limit of a key: `limit` units in any interval of `windowMs`. */
export interface Rate {
  readonly limit: number;
  readonly windowMs: number;
}

/** Whose units are counted. */
export interface Holder {
  readonly tenant: string;
  readonly key: string;
}

/** The answer to "may `cost` units pass". Times are milliseconds from now. */
export interface Admission {
  readonly admitted: boolean;
  /** Units left as of the last count; what other processes hold as leases counts as used. */
  readonly remaining: number;
  /** Until the oldest units still counted leave the count. */
  readonly resetMs: number;
  /** Until the same question may be answered otherwise; null when admitted, or when the cost is above the limit. */
  readonly waitMs: number | null;
  /** When it was decided, on the monotonic clock: the moment that the bound is about. */
  readonly at: number;
}

/** What a store granted: `units` that may be spent for `leftMs`, counted from before the call. */
export interface Grant {
  readonly granted: number;
  readonly leftMs: number;
  readonly used: number;
  readonly waitMs: number | null;
  readonly resetMs: number;
  readonly slot: number;
}

/** A part of a grant that was not spent in its sub-bucket. */
export interface Rest extends Holder {
  readonly subMs: number;
  readonly slot: number;
  readonly units: number;
}

/** Where the units of all processes are counted: one row or one Redis hash for each key. */
export interface RateStore {
  /** Counts up to `want` units if at least `min` are left; `want` 0 only reads. */
  reserve(holder: Holder, rate: Rate, want: number, min: number): Promise<Grant>;
  giveBack(rests: readonly Rest[]): Promise<void>;
}

/** The length of a sub-bucket: a tenth of the window, rounded up so that eleven always cover it. */
export const subBucketMs = (windowMs: number): number => Math.ceil(windowMs / 10);
