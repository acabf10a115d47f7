import type * as T from '../../services/jobs/types.ts';
import type { End } from './attempt.ts';

/** The end of an attempt, to be reported to the server. */
export interface Result {
  readonly jobId: string;
  readonly end: Exclude<End, { readonly kind: 'recorded' }>;
}

/**
 * The limits of a request that settles jobs: the number of its results, and the bytes of its body, with some room for the text
 * around the results.
 */
const [mostResults, mostBytes] = [1_000, 4 * 1024 * 1024 - 64 * 1024];
/**
 * The bytes of a result in addition to its output: its id, the names of its members, and an error with characters that JSON
 * escapes.
 */
const bytesAround = 100;
const bytesPerErrorUnit = 6;

const bytesOf = ({ end }: Result): number => {
  if (end.kind === 'completed') return bytesAround + end.bytes;
  return bytesAround + (end.kind === 'failed' ? end.error.length * bytesPerErrorUnit : 0);
};

/** Takes the content of the next request from a queue: a postponed job is sent alone, all other results together. */
export function takeBatch(queue: Result[]): Result[] {
  let bytes = 0;
  let count = 0;
  for (const result of queue) {
    if (result.end.kind === 'postponed') break;
    bytes += bytesOf(result);
    if (count === mostResults || (count > 0 && bytes > mostBytes)) break;
    count += 1;
  }
  return queue.splice(0, Math.max(1, count));
}

export function settlementOf(results: readonly Result[]): T.Settlement {
  const completed: T.CompletedJob[] = [];
  const failed: T.FailedJob[] = [];
  for (const { jobId: id, end } of results) {
    if (end.kind === 'completed') completed.push({ id, output: end.output });
    if (end.kind === 'failed') {
      const { error, retryable, retryIn } = end;
      failed.push({ id, error, retryable, ...(retryIn === undefined ? {} : { retry_in: retryIn }) });
    }
  }
  return { completed, failed };
}
