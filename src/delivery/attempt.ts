import { TargetRefused, type Outbound, type OutboundAnswer } from '../lib/outbound.ts';
import { retryAfterOf } from './schedule.ts';

/** The request of an attempt, which is always a POST. */
export interface AttemptRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What an attempt came to. */
export interface Verdict {
  /** `final`: no further attempt could succeed. */
  readonly result: 'delivered' | 'failed' | 'final';
  /** The status of the answer; null when there was none. */
  readonly statusCode: number | null;
  /** The reason of a failure, in words for the receiver's owner; null when the delivery succeeded. */
  readonly error: string | null;
  /** The seconds that the receiver asks to wait before the next attempt. */
  readonly retryAfter?: number | undefined;
}

/** How the status of an answer is judged. */
export interface StatusRules {
  readonly isDelivered: (status: number) => boolean;
  /** Whether no further attempt is made after a failure with this status. */
  readonly isFinal: (status: number) => boolean;
}

/** Every 2xx is a success, and a receiver that answers 410 wants nothing any more. */
export const usualRules: StatusRules = {
  isDelivered: (status) => status >= 200 && status < 300,
  isFinal: (status) => status === 410,
};

/** The time limit of an attempt, in milliseconds, from the lookup of the name to the end of the answer. */
const timeoutMs = 15_000;

/** The most bytes of an answer that are read. */
const mostAnswer = 16 * 1024;

/** How long a delivery is claimed, in seconds: longer than an attempt can take. */
export const claimSeconds = 60;

/** Makes one attempt. It does not throw: a receiver that does not answer is a failed attempt. */
export async function attempt(
  outbound: Pick<Outbound, 'send'>,
  request: AttemptRequest,
  rules: StatusRules,
): Promise<Verdict> {
  try {
    const answer = await outbound.send({ ...request, method: 'POST', timeoutMs, maxBytes: mostAnswer });
    return judge(answer, rules, Date.now());
  } catch (error) {
    const result = error instanceof TargetRefused ? 'final' : 'failed';
    return { result, statusCode: null, error: wordsFor(error) };
  }
}

/** @param now milliseconds since 1970 */
export function judge(
  { status, headers }: Pick<OutboundAnswer, 'status' | 'headers'>,
  { isDelivered, isFinal }: StatusRules,
  now: number,
): Verdict {
  if (isDelivered(status)) return { result: 'delivered', statusCode: status, error: null };
  return {
    result: isFinal(status) ? 'final' : 'failed',
    statusCode: status,
    error: `the receiver answered ${status}`,
    retryAfter: retryAfterOf(headers['retry-after'], now),
  };
}

/** Describes why there was no answer, without internal details. */
export function wordsFor(error: unknown): string {
  if (error instanceof TargetRefused) return error.message;
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'TimeoutError') return 'no answer in time';
  // The guard's refusal arrives as the cause of a failed connection.
  if (error.cause instanceof TargetRefused) return error.cause.message;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'no answer';
  return code.slice(0, 500);
}
