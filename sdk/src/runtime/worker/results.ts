import type * as T from '../../services/jobs/types.ts';
import type { End } from './attempt.ts';

/** The end of an attempt that the server has to learn. */
export interface Result {
  readonly jobId: string;
  readonly end: Exclude<End, { readonly kind: 'recorded' }>;
}

/** The bounds of a request that settles jobs: its results, and the bytes of its body with some room for what is around them. */
const [mostResults, mostBytes] = [1_000, 4 * 1024 * 1024 - 64 * 1024];
/** The bytes of a result beside its output: its id, the names of the members, and an error with characters that JSON escapes. */
const bytesAround = 100;
const bytesPerErrorUnit = 6;

const bytesOf = ({ end }: Result): number => {
  if (end.kind === 'completed') return bytesAround + end.bytes;
  return bytesAround + (end.kind === 'failed' ? end.error.length * bytesPerErrorUnit : 0);
};

/** Takes from a queue what goes into the next request: what is put off goes alone, everything else together. */
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
