import type { Deps } from '../deps.ts';
import { refOf } from '../keys/refs.ts';
import { type PurgedRun, type RunDigest, runIn } from '../record/runs.ts';
import { mostNamed } from './chain-check.ts';
import { verificationStore } from './verification.store.ts';
import type { VerifiedStream } from './verifier.ts';

/** Rows that claim to be purged by a run which did not purge them, or not as they are now. */
export interface FalseRun {
  readonly sequences: readonly number[];
  readonly count: number;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The runs that are looked up with one statement. */
const pageSize = 500;

/**
 * Finds the false ones among the runs whose remains a verification met. Each run has an event in the chain with the digest of what it
 * purged, which is compared when the range holds the whole run.
 */
export async function falseRuns(
  { db }: Pick<Deps, 'db'>,
  stream: VerifiedStream,
  runs: ReadonlyMap<string, RunDigest>,
  range: Range,
): Promise<FalseRun[]> {
  const { indexKey } = stream;
  if (indexKey === undefined) return [];
  const store = verificationStore(db.sql);
  const found: FalseRun[] = [];
  const all = [...runs];
  for (let at = 0; at < all.length; at += pageSize) {
    const page = all.slice(at, at + pageSize);
    const refs = page.map(([id]) => refOf(indexKey, 'resource', id));
    const told = new Map(
      (await store.runContents(stream, refs)).flatMap(runIn).map((run) => [run.run_id, run]),
    );
    for (const [id, seen] of page) {
      if (isTrue(seen, told.get(id), range)) continue;
      const sequences = await store.purgedBy(stream, id, range.from, range.to, mostNamed);
      found.push({ sequences, count: seen.count });
    }
  }
  return found;
}

function isTrue(seen: RunDigest, told: PurgedRun | undefined, { from, to }: Range): boolean {
  if (told === undefined || seen.first < told.first_sequence || seen.last > told.last_sequence) return false;
  const isWhole = from <= told.first_sequence && to >= told.last_sequence;
  return !isWhole || (seen.count === told.count && seen.text() === told.digest);
}
