import type { Sql } from '../../../db/index.ts';
import type { PlanTerms } from '../periods/course.ts';
import type { Revision } from '../periods/segments.ts';
import { type PlanRevision, revisionStore } from './revisions.store.ts';

export type { PlanRevision } from './revisions.store.ts';

/** Returns a revision that was read before. */
export type RevisionOf = (revision: Revision) => PlanRevision;

/** The revisions of plans. Because none ever changes, those that were read once are kept in memory, and no answer is stale. */
export interface Revisions {
  /** Reads the revisions that are not in memory yet. The result throws for one that does not exist. */
  read(sql: Sql, app: string, wanted: Iterable<Revision>): Promise<RevisionOf>;
  /** Forgets what is in memory of a plan. */
  forget(app: string, planId: string): void;
}

/** The most revisions that are kept in memory. */
const mostKept = 1_000;

export function createRevisions(): Revisions {
  const kept = new Map<string, PlanRevision>();
  const nameOf = (app: string, { planId, revision }: Revision) => `${app} ${planId} ${revision}`;
  const keep = (name: string, one: PlanRevision) => {
    kept.delete(name);
    kept.set(name, one);
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
  };
  return {
    async read(sql, app, wanted) {
      const found = new Map<string, PlanRevision>();
      const missing = new Map<string, Revision>();
      for (const revision of wanted) {
        const name = nameOf(app, revision);
        const one = kept.get(name);
        if (one === undefined) missing.set(name, revision);
        else found.set(name, one);
      }
      if (missing.size > 0)
        for (const one of await revisionStore(sql).find(app, [...missing.values()]))
          found.set(nameOf(app, one), one);
      for (const [name, one] of found) keep(name, one);
      return (revision) => {
        const one = found.get(nameOf(app, revision));
        if (one === undefined)
          throw new Error(`plan ${revision.planId} has no revision ${revision.revision}`);
        return one;
      };
    },
    forget(app, planId) {
      for (const name of [...kept.keys()]) if (name.startsWith(`${app} ${planId} `)) kept.delete(name);
    },
  };
}

/** What a revision says about periods and their base price. */
export const termsOf = ({ planId, revision, pricing }: PlanRevision): PlanTerms => ({
  planId,
  revision,
  interval: pricing?.billing_period ?? 'monthly',
  base: BigInt(pricing?.base_amount.amount ?? 0),
});
