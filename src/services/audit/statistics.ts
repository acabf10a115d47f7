import type { Stats } from '../../../generated/audit/server.ts';
import type { Context } from '../../http/context.ts';
import { viewOf } from '../../http/view.ts';
import type { Deps } from './deps.ts';
import { eventStore } from './events/events.store.ts';
import { withinOf } from './periods.ts';

/** The categories that statistics name. */
const mostCategories = 100;

/** Stats: the numbers of events. */
export const stats = ({ db }: Pick<Deps, 'db'>) =>
  ({
    async get({ tenant_id, from, to }, context) {
      const view = viewOf(context, tenant_id);
      const { total, severities, outcomes, categories } = await eventStore(db.sql).counts(
        view,
        withinOf({ from, to }),
        mostCategories,
      );
      return {
        total_events: total,
        events_by_severity: { info: 0, warning: 0, critical: 0, ...severities },
        events_by_outcome: { success: 0, failure: 0, denied: 0, ...outcomes },
        events_by_category: categories,
        events_in_other_categories: total - Object.values(categories).reduce((sum, count) => sum + count, 0),
      };
    },
  }) satisfies Stats<Context>;
