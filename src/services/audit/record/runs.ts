import { createHash, type Hash } from 'node:crypto';
import { type ContentPart, isEncrypted } from './parts.ts';

/** The action of the events that say what a run of the retention purged. */
export const purgedAction = 'retention.purged';

/** What a run of the retention purged, as the event `retention.purged` tells it in its metadata. */
export interface PurgedRun {
  readonly run_id: string;
  readonly policy_id: string;
  readonly count: number;
  readonly first_sequence: number;
  readonly last_sequence: number;
  /** In hex: of what `RunDigest` gets. */
  readonly digest: string;
  /** Null when the events were not archived. */
  readonly archive_id: string | null;
  /** The category of the policy, and when the first and the last event happened; runs of earlier versions do not say so. */
  readonly category?: string;
  readonly from_timestamp?: string;
  readonly to_timestamp?: string;
}

/** What the content of an event says of a run: it belongs to nobody, so it is not encrypted. Nothing when somebody changed it. */
export function runIn(content: Buffer): PurgedRun[] {
  if (isEncrypted(content)) return [];
  try {
    const { metadata } = JSON.parse(content.toString('utf8', 1)) as ContentPart;
    return [metadata as PurgedRun];
  } catch {
    return [];
  }
}

/** The digest of purged events: the SHA-256 of each sequence (8 bytes, big-endian) and hash (32 bytes), ascending. */
export class RunDigest {
  readonly #hash: Hash = createHash('sha256');
  count = 0;
  first = 0;
  last = 0;

  add(sequence: number, hash: Uint8Array): void {
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(sequence));
    this.#hash.update(number).update(hash);
    if (this.count === 0) this.first = sequence;
    this.last = sequence;
    this.count += 1;
  }

  /** The digest in hex. Nothing can be added afterwards. */
  text(): string {
    return this.#hash.digest('hex');
  }
}
