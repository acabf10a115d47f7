import type { Stats } from '../../../generated/jobs/server.ts';
import type { Context } from '../../http/context.ts';
import { viewOf } from '../../http/view.ts';
import type { Counts } from './counts.ts';
import type { Deps } from './deps.ts';
import { jobReads } from './jobs.store.ts';
import { runReads } from './runs.store.ts';

/** Stats: the numbers of stored records. */
export const stats = ({ db, counts }: Deps & { readonly counts: Counts }) =>
  ({
    get({ scope_org_id }, context) {
      const view = viewOf(context, scope_org_id);
      return counts(['stats', view], async () => {
        const [jobs, dlq_count, workflows] = await Promise.all([
          jobReads(db.sql).counts(view, {}),
          jobReads(db.sql).letters(view),
          runReads(db.sql).counts(view),
        ]);
        return { jobs, dlq_count, workflows };
      });
    },
  }) satisfies Stats<Context>;
