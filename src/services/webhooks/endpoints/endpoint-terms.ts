import type { EndpointUpdate } from '../../../../generated/webhooks/types.ts';
import { parseDuration } from '../../../lib/durations.ts';
import { Invalid } from '../../../lib/errors.ts';
import { isDeeper } from '../../../lib/json-levels.ts';

/** What an endpoint stores of a request, besides its headers and whether it is enabled. */
export interface EndpointTerms {
  readonly uid: string | null;
  readonly url: string;
  readonly description: string;
  readonly event_types: readonly string[];
  readonly channels: readonly string[];
  readonly ordered: boolean;
  readonly rate_limit: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly payload_format: string;
  readonly max_concurrency: number;
  readonly timeout_ms: number;
  readonly max_attempts: number;
}

/** Returns the problem of a URL; undefined when there is none. */
export type JudgeUrl = (url: string) => string | undefined;

const [shortestTimeoutMs, longestTimeoutMs] = [1_000, 30_000];
const longestUrl = 2_048;
const longestKey = 64;
const mostMetadataBytes = 8 * 1024;
const mostMetadataLevels = 5;

/**
 * Returns the stored form of the terms that a request gives; absent ones stay absent.
 * @throws Invalid, naming the member
 */
export function storedTerms<Given extends EndpointUpdate>(
  { headers: _, enabled: __, timeout, ...given }: Given,
  judge: JudgeUrl,
) {
  const { url, event_types, channels, metadata } = given;
  if (metadata) checkMetadata(metadata);
  return {
    ...given,
    ...(url !== undefined && { url: storedUrl(url, judge) }),
    ...(event_types && { event_types: [...new Set(event_types)] }),
    ...(channels && { channels: [...new Set(channels)] }),
    ...(timeout !== undefined && { timeout_ms: storedTimeout(timeout) }),
  };
}

function storedUrl(text: string, judge: JudgeUrl): string {
  const problem = judge(text);
  if (problem !== undefined) throw Invalid(`url: ${problem}`);
  const { href } = new URL(text);
  if (href.length > longestUrl) throw Invalid(`url: its normal form has more than ${longestUrl} characters`);
  return href;
}

function storedTimeout(text: string): number {
  const ms = parseDuration(text, 'timeout');
  if (ms < shortestTimeoutMs || ms > longestTimeoutMs) throw Invalid('timeout: must be from 1s to 30s');
  return ms;
}

/** The contract limits the number of keys. */
function checkMetadata(metadata: Readonly<Record<string, unknown>>): void {
  if (Object.keys(metadata).some((key) => key.length === 0 || key.length > longestKey))
    throw Invalid(`metadata: keys must have 1 to ${longestKey} characters`);
  if (isDeeper(metadata, mostMetadataLevels)) throw Invalid(`metadata: at most ${mostMetadataLevels} levels`);
  if (Buffer.byteLength(JSON.stringify(metadata)) > mostMetadataBytes)
    throw Invalid(`metadata: at most ${mostMetadataBytes} bytes`);
}
