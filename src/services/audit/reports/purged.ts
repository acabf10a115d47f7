import { type PurgedRun, runIn } from '../record/runs.ts';
import type { ArchivedRun, ReportScope, RunRow, sectionStore } from './sections.store.ts';

/** What is known of the purged events of a period. */
export interface Purged {
  /** How many there are at most: a run counts whole, also when only some of its events happened in the period. */
  readonly count: number;
  /** Whether all of them happened in the period. */
  readonly isExact: boolean;
  /** By the category of the policy that purged them: `*` stands for any, as does a run that does not say. */
  readonly byCategory: ReadonlyMap<string, number>;
  /** The days of the period, in UTC, on which purged events happened, or may have. */
  readonly days: readonly string[];
  /** The numbers of the events, from the first to the last. */
  readonly range: { readonly from: number; readonly to: number } | undefined;
}

/** When the events of a run happened; without a beginning when nobody knows. */
interface TimedRun extends Pick<PurgedRun, 'count' | 'first_sequence' | 'last_sequence'> {
  readonly category: string;
  readonly from: string | undefined;
  readonly to: string;
}

const pageSize = 500;
const dayMs = 86_400_000;

/** What the runs of the retention and their archives tell of a period whose events are gone. */
export async function purgedIn(store: ReturnType<typeof sectionStore>, scope: ReportScope): Promise<Purged> {
  const found = new Found(scope);
  for (let after: RunRow | undefined; ;) {
    const rows = await store.runs(scope, after, pageSize);
    const told = rows.flatMap((row) => runIn(row.content).map((run) => ({ run, at: row.timestamp })));
    const silent = told.flatMap(({ run }) =>
      run.to_timestamp === undefined && run.archive_id !== null ? [run.archive_id] : [],
    );
    const archives = silent.length === 0 ? [] : await store.archived(scope, silent);
    const byId = new Map(archives.map((archive) => [archive.id, archive]));
    for (const { run, at } of told) found.add(timed(run, byId.get(run.archive_id ?? ''), at));
    if (rows.length < pageSize) return found;
    after = rows.at(-1);
  }
}

/** Events happened before the run that purged them. */
const timed = (run: PurgedRun, archive: ArchivedRun | undefined, at: string): TimedRun => ({
  ...run,
  category: run.category ?? archive?.category ?? '*',
  from: run.from_timestamp ?? archive?.from_timestamp,
  to: run.to_timestamp ?? archive?.to_timestamp ?? at,
});

class Found implements Purged {
  count = 0;
  isExact = true;
  readonly byCategory = new Map<string, number>();
  range: { from: number; to: number } | undefined;
  readonly #days = new Set<string>();
  readonly #from: string;
  readonly #to: string;

  constructor({ from, to }: Pick<ReportScope, 'from' | 'to'>) {
    [this.#from, this.#to] = [from, to];
  }

  get days(): string[] {
    return [...this.#days];
  }

  add({ count, category, from = '', to, first_sequence, last_sequence }: TimedRun): void {
    if (from >= this.#to || to < this.#from) return;
    this.count += count;
    if (from < this.#from || to >= this.#to) this.isExact = false;
    this.byCategory.set(category, (this.byCategory.get(category) ?? 0) + count);
    this.range = {
      from: Math.min(this.range?.from ?? first_sequence, first_sequence),
      to: Math.max(this.range?.to ?? last_sequence, last_sequence),
    };
    const end = Math.min(Date.parse(to), Date.parse(this.#to) - 1);
    const begin = Date.parse(from > this.#from ? from : this.#from);
    for (let at = Math.floor(begin / dayMs) * dayMs; at <= end; at += dayMs)
      this.#days.add(new Date(at).toISOString().slice(0, 10));
  }
}

/** How many purged events may have belonged to a section of these categories. */
export function purgedOf({ byCategory, count }: Purged, categories: readonly string[] = []): number {
  if (categories.length === 0) return count;
  return ['*', ...categories].reduce((sum, category) => sum + (byCategory.get(category) ?? 0), 0);
}
