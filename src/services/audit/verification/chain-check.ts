import type { ChainRecord } from '../../../../generated/audit/types.ts';
import { recordHash } from '../record/record.ts';
import { RunDigest } from '../record/runs.ts';
import type { LinkRow } from './verification.store.ts';

/** The most sequences that a report names. */
export const mostNamed = 1_000;

/** Sequences in ascending order, of which the first ones are kept and all are counted. */
export class Sequences {
  readonly named: number[] = [];
  count = 0;

  add(from: number, to: number = from): void {
    for (let at = from; at <= to && this.named.length < mostNamed; at++) this.named.push(at);
    this.count += Math.max(0, to - from + 1);
  }

  /**
   * Adds sequences that were found in another way.
   * @param count how many there are, of which `list` has the first ones
   * @returns how many were not known before
   */
  merge(list: readonly number[], count: number): number {
    const known = new Set(this.named);
    const added = count - list.filter((one) => known.has(one)).length;
    const all = [...new Set([...known, ...list])].sort((a, b) => a - b);
    this.named.splice(0, this.named.length, ...all.slice(0, mostNamed));
    this.count += added;
    return added;
  }
}

/**
 * Checks the rows of a stream one after the other: that none is missing, that the hash of each is that of its record, and that each record
 * names the hash of the one before. What purged rows were is not known; their hashes are links all the same, and each run that purged
 * some is noted with the digest of what it left.
 */
export class ChainCheck {
  readonly gaps = new Sequences();
  readonly tampered = new Sequences();
  readonly runs = new Map<string, RunDigest>();
  verified = 0;
  purged = 0;
  #next: number;
  /** The hashes that the next record may name: none when the row before is missing, two when it was changed. */
  #links: readonly Buffer[];
  last: LinkRow | undefined;

  /** @param before the hash of the row before the first one; undefined when it is missing */
  constructor(first: number, before: Buffer | undefined) {
    this.#next = first;
    this.#links = before === undefined ? [] : [before];
  }

  add(row: LinkRow): void {
    if (row.sequence > this.#next) {
      this.gaps.add(this.#next, row.sequence - 1);
      this.#links = [];
    }
    this.#next = row.sequence + 1;
    this.last = row;
    if (row.run_id === null) this.#addEvent(row);
    else this.#addPurged(row, row.run_id);
  }

  /** Notes rows that turned out to be false although their hashes fit. */
  refute(sequences: readonly number[], count: number): void {
    this.verified -= this.tampered.merge(sequences, count);
  }

  /** Notes that everything up to `last` was examined. */
  end(last: number): void {
    this.gaps.add(this.#next, last);
  }

  #addPurged(row: LinkRow, runId: string): void {
    const run = this.runs.get(runId) ?? new RunDigest();
    run.add(row.sequence, row.hash);
    this.runs.set(runId, run);
    this.purged += 1;
    this.verified += 1;
    this.#links = [row.hash];
  }

  #addEvent(row: LinkRow): void {
    // After a gap nobody knows which hash the record names.
    if (this.#links.length === 0) {
      this.#links = [row.hash];
      return;
    }
    const hashes = this.#links.map((link) => recordHash(recordOf(row, link)));
    if (hashes.some((hash) => hash.equals(row.hash))) {
      this.verified += 1;
      this.#links = [row.hash];
      return;
    }
    this.tampered.add(row.sequence);
    // One change is named once: what follows may continue from the hash as it is stored or as it should be.
    this.#links = [row.hash, ...hashes];
  }
}

/** The record of a row, if this is the hash before it. */
const recordOf = (row: LinkRow, before: Buffer): ChainRecord => ({
  action: row.action,
  actor: row.actor,
  actor_key: row.actor_key,
  actor_type: row.actor_type,
  app_id: row.app_id,
  category: row.category,
  content: row.content,
  content_key: row.content_key,
  id: row.id,
  outcome: row.outcome,
  prev_hash: before.toString('hex'),
  recorded_at: row.recorded_at,
  recorded_by: row.recorded_by,
  resource: row.resource,
  salt: Buffer.from(row.salt ?? '', 'base64').toString('base64url'),
  sequence: row.sequence,
  severity: row.severity,
  source: row.source,
  stream_id: row.stream_id,
  tenant_id: row.tenant_id,
  timestamp: row.timestamp,
  v: row.v,
});
