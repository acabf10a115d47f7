/** At most `limit` units in any interval of `windowMs`. */
export interface Rate {
  readonly limit: number;
  readonly windowMs: number;
}

/** The holder of a rate, whose units are counted. */
export interface Holder {
  readonly tenant: string;
  /** Unique over all tenants. */
  readonly key: string;
}

/** The answer to whether `cost` units may pass. Times are milliseconds from now. */
export interface Admission {
  readonly admitted: boolean;
  /** Units left as of the last count. Units that other processes lease count as used. */
  readonly remaining: number;
  /** Milliseconds until the oldest counted units leave the count. */
  readonly resetMs: number;
  /** Milliseconds until the answer may change. Null when admitted, or when the cost exceeds the limit. */
  readonly waitMs: number | null;
  /** Time of the decision on the monotonic clock, to which the limit applies. */
  readonly at: number;
}

/** A grant of the store: `granted` units that may be spent for `leftMs`, counted from before the call. */
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

/** Counts the units of all processes: one row or one Redis hash per holder. */
export interface RateStore {
  /** Counts up to `want` units if at least `min` are left. `want` 0 only reads. */
  reserve(holder: Holder, rate: Rate, want: number, min: number): Promise<Grant>;
  giveBack(rests: readonly Rest[]): Promise<void>;
}

/** The length of a sub-bucket: a tenth of the window, rounded up so that eleven always cover it. */
export const subBucketMs = (windowMs: number): number => Math.ceil(windowMs / 10);
