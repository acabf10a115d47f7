import { Invalid, TooLarge } from '../../lib/errors.ts';
import { parseDuration } from '../../lib/durations.ts';
import { isDeeper } from '../../lib/json-levels.ts';
import { parseMoment } from '../../lib/moments.ts';
import { limits } from './limits.ts';
import type { Backoff } from './outcomes.ts';

/** The states of a job. The last three are final: such a job is in the history. */
export type JobState = 'pending' | 'running' | 'retrying' | 'completed' | 'failed' | 'cancelled';

/** A job to enqueue, with the members of the contract's `Job` and defaults like there. Durations are texts such as `5m`. */
export interface JobInput {
  readonly name: string;
  /** The queue; `default` when absent. */
  readonly queue?: string | undefined;
  readonly payload?: object | undefined;
  /** From −100 to 100; higher first. */
  readonly priority?: number | undefined;
  readonly max_attempts?: number | undefined;
  /** When it is due. Either this or `delay`. */
  readonly run_at?: string | null | undefined;
  readonly delay?: string | null | undefined;
  /** The longest attempt. */
  readonly timeout?: string | undefined;
  readonly backoff?:
    | {
        readonly type?: Backoff['type'] | undefined;
        readonly delay?: string | undefined;
        readonly max?: string | undefined;
      }
    | undefined;
  /** While a job with this key lives, no other with the key exists in the tenant and app. */
  readonly unique_key?: string | null | undefined;
  /** The key is taken for this long, whatever becomes of the job. */
  readonly unique_for?: string | null | undefined;
  /** `replace`: a waiting job with the key gets the payload and the due time of the new one. */
  readonly unique_mode?: 'keep' | 'replace' | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly origin_id?: string | null | undefined;
  /** The tenant to which the job belongs; the platform itself (`system`) when absent. */
  readonly tenant?: string | undefined;
  readonly app?: string | undefined;
}

/** A job whose members are checked, as it will be stored. */
export interface NewJob {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly name: string;
  readonly queue: string;
  readonly rank: number;
  readonly payload: string;
  readonly tags: readonly string[];
  readonly maxAttempts: number;
  /** The moment when it is due, or else the milliseconds from now. */
  readonly runAt: string | null;
  readonly delayMs: number;
  readonly timeoutMs: number;
  readonly backoff: Backoff;
  readonly uniqueKey: string | null;
  readonly uniqueForMs: number | null;
  readonly replaces: boolean;
  readonly originId: string | null;
}

/** A claimed job, as its handler sees it. */
export interface Job<Payload = unknown> {
  readonly id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly name: string;
  readonly queue: string;
  readonly payload: Payload;
  readonly tags: readonly string[];
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  readonly max_attempts: number;
  readonly lost_count: number;
  readonly run_at: string;
  readonly started_at: string;
  readonly origin_id: string | null;
}

/** Where jobs belong that the platform makes for itself. */
export const platform = { tenant: 'system', app: 'default' } as const;

const defaultBackoff: Backoff = { type: 'exponential', delayMs: 2_000, maxMs: 3_600_000 };

/** Checks a job. @param now the current milliseconds, for the limit of `run_at` @throws Invalid, TooLarge */
export function newJob(
  input: JobInput,
  id: string,
  { maxPayload, now }: { maxPayload: number; now: number },
): NewJob {
  const { tenant = platform.tenant, app = platform.app } = input;
  return {
    id,
    tenant,
    app,
    name: checkedName(input.name, 'name'),
    queue: checkedName(input.queue ?? 'default', 'queue'),
    rank: -integer(input.priority ?? 0, [-limits.priority, limits.priority], 'priority') || 0,
    payload: jsonText(input.payload ?? {}, 'payload', maxPayload),
    tags: checkedTags(input.tags ?? []),
    maxAttempts: integer(input.max_attempts ?? 5, [1, limits.maxAttempts], 'max_attempts'),
    ...dueTime(input, now),
    timeoutMs: milliseconds(input.timeout, 'timeout', limits.timeoutMs) ?? 300_000,
    backoff: backoffOf(input.backoff),
    ...uniqueness(input),
    originId: input.origin_id ?? null,
  };
}

export function checkedName(name: string, field: string): string {
  if (!limits.name.test(name))
    throw Invalid(`${field}: must have 1 to 128 letters, digits, _ . : - and begin with a letter or a digit`);
  return name;
}

/** The JSON text of a value. @throws Invalid when it has none or is nested too deep, TooLarge over the limit */
export function jsonText(value: unknown, field: string, most: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw Invalid(`${field}: cannot be written as JSON`, { cause });
  }
  if (text === undefined) throw Invalid(`${field}: cannot be written as JSON`);
  // A text of n UTF-16 units has n to 3n bytes, so most texts need not be counted.
  if (text.length > most || (text.length * 3 > most && Buffer.byteLength(text) > most))
    throw TooLarge(`${field}: must have at most ${most} bytes`);
  // Each level takes at least two characters.
  if (text.length > 2 * limits.jsonLevels && isDeeper(value, limits.jsonLevels))
    throw Invalid(`${field}: must have at most ${limits.jsonLevels} levels`);
  return text;
}

export function backoffOf(input: JobInput['backoff']): Backoff {
  if (input === undefined) return defaultBackoff;
  const { type = 'exponential', delay, max } = input;
  return {
    type,
    delayMs: milliseconds(delay, 'backoff.delay', limits.backoffDelayMs) ?? defaultBackoff.delayMs,
    maxMs: milliseconds(max, 'backoff.max', limits.backoffMaxMs) ?? defaultBackoff.maxMs,
  };
}

export function milliseconds(
  text: string | null | undefined,
  field: string,
  [least, most]: readonly [number, number],
): number | undefined {
  if (text === undefined || text === null) return undefined;
  const ms = parseDuration(text, field);
  if (ms < least || ms > most) throw Invalid(`${field}: must be from ${least} to ${most} milliseconds`);
  return ms;
}

function dueTime({ run_at, delay }: JobInput, now: number): Pick<NewJob, 'runAt' | 'delayMs'> {
  if (run_at != null && delay != null) throw Invalid('delay: cannot be given together with run_at');
  if (run_at == null) return { runAt: null, delayMs: milliseconds(delay, 'delay', [0, limits.delayMs]) ?? 0 };
  if (parseMoment(run_at, 'run_at').ms > now + limits.aheadMs)
    throw Invalid('run_at: must be at most 5 years ahead');
  return { runAt: run_at, delayMs: 0 };
}

function uniqueness(input: JobInput): Pick<NewJob, 'uniqueKey' | 'uniqueForMs' | 'replaces'> {
  const { unique_key: key = null, unique_for, unique_mode } = input;
  if (key === null && unique_for != null) throw Invalid('unique_for: needs a unique_key');
  if (key !== null) text(key, limits.keyLength, 'unique_key');
  return {
    uniqueKey: key,
    uniqueForMs: milliseconds(unique_for, 'unique_for', limits.uniqueForMs) ?? null,
    replaces: unique_mode === 'replace',
  };
}

function checkedTags(tags: readonly string[]): readonly string[] {
  if (tags.length > limits.tags) throw Invalid(`tags: must be at most ${limits.tags}`);
  return tags.map((tag) => text(tag, limits.tagLength, 'tags'));
}

function text(value: string, longest: number, field: string): string {
  if (value === '' || value.length > longest || value.includes('\0') || !value.isWellFormed())
    throw Invalid(`${field}: must have 1 to ${longest} characters`);
  return value;
}

function integer(value: number, [least, most]: readonly [number, number], field: string): number {
  if (!Number.isInteger(value) || value < least || value > most)
    throw Invalid(`${field}: must be an integer from ${least} to ${most}`);
  return value;
}
