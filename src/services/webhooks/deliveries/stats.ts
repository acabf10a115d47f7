import type { Stats } from '../../../../generated/webhooks/server.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import type { Deps } from '../deps.ts';
import { statsStore } from './stats.store.ts';

/** Stats: the numbers of stored records. */
export const stats = ({ db }: Pick<Deps, 'db'>) =>
  ({
    async get({ tenant_id }, context) {
      const counts = await statsStore(db.sql).counts(viewOf(context, tenant_id));
      const { events, live, delivering, delivered, failed, cancelled, dlq, ...endpoints } = counts;
      return {
        events,
        deliveries: live + delivered + failed + cancelled,
        dlq,
        deliveries_by_state: { pending: live - delivering, delivering, delivered, failed, cancelled },
        ...endpoints,
      };
    },
  }) satisfies Stats<Context>;
