/** A failure that says whether and when another attempt may help. */
export class JobFailure extends Error {
  override readonly name = 'JobFailure';
  /** Whether another attempt may help; if not, the job fails now. */
  readonly retryable: boolean;
  /** The delay until the next attempt, such as `10m`, in place of the back-off of the job. */
  readonly retryIn: string | undefined;

  constructor(
    message: string,
    options: {
      readonly retryable?: boolean | undefined;
      readonly retryIn?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable ?? true;
    this.retryIn = options.retryIn;
  }
}

/** A handler throws this to continue later: the job is due again after the delay, and the attempt does not count. */
export class Postponed extends Error {
  override readonly name = 'Postponed';
  /** A duration such as `10m`. */
  readonly delay: string;

  constructor(delay: string) {
    super(`postponed by ${delay}`);
    this.delay = delay;
  }
}

/** Thrown inside a workflow when a step failed in all its attempts. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly step: string;

  constructor(step: string, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.step = step;
  }
}

/**
 * Whether a thrown value belongs to a class. Compares the name, so that it also recognises an error of another copy of this
 * package.
 */
export const isJobFailure = (thrown: unknown): thrown is JobFailure =>
  thrown instanceof Error && thrown.name === 'JobFailure';

export const isPostponed = (thrown: unknown): thrown is Postponed =>
  thrown instanceof Error && thrown.name === 'Postponed';

/** The longest error that the server keeps, in characters. */
const longestError = 2_000;

/**
 * Returns the message of whatever a handler threw, in a form that the server can store: never empty, not too long, valid Unicode.
 */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message || thrown.name : thrown;
  const valid = typeof text === 'string' ? text.replace(/\0/g, '').replace(/\p{Surrogate}/gu, '\ufffd') : '';
  // A character has at most two units, so the rest of a huge message need not be examined.
  const characters = [...valid.trim().slice(0, 2 * longestError)].slice(0, longestError);
  return (
    characters
      .join('')
      .replace(/\p{Surrogate}/gu, '\ufffd')
      .trim() || 'failed without a message'
  );
}
