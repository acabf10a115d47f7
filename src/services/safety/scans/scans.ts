import type { Scans } from '../../../../generated/safety/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import type { Matchers } from '../matchers/matchers.ts';
import { countedOf, firstIdAt, periodOf } from './periods.ts';
import { preview } from './preview.ts';
import type { Scanner } from './scanner.ts';
import { newestScans, scanStore } from './scans.store.ts';
import { statisticsOf } from './statistics.ts';
import { statsStore } from './stats.store.ts';

interface ScansDeps extends Pick<Deps, 'db' | 'changes' | 'settings'> {
  readonly matchers: Matchers;
  readonly scanner: Scanner;
}

/** Scans texts, and reads what was decided. */
export const scans = ({ db, changes, settings, matchers, scanner }: ScansDeps) =>
  ({
    input: ({ body }, context) => scanner.scan(body, 'input', context),
    output: ({ body }, context) => scanner.scan(body, 'output', context),
    preview: (request, context) => preview(request, context, { matchers, scanner }),

    async list({ direction, decision, user_id, profile, from, to, ...request }, { tenant, reply }) {
      const period = periodOf({ from, to });
      const window = windowOf(request, newestScans);
      const filter = {
        ...{ direction, decision, user: user_id, profile: profile?.trim() },
        fromId: period.from === undefined ? undefined : firstIdAt(period.from),
        toId: period.to === undefined ? undefined : firstIdAt(period.to),
      };
      const { rows, cut } = await scanStore(db.sql).list(tenant, filter, window);
      return answerPage(reply, window, rows, cut);
    },

    async stats(request, { tenant }) {
      const keptSince = changes.clock.now() - settings.retentionMs;
      const counted = countedOf(periodOf(request), keptSince);
      return statisticsOf(await statsStore(db.sql).count({ tenant, ...counted }));
    },

    async get({ scanId }, { tenant }) {
      const scan = await scanStore(db.sql).find(tenant, scanId);
      if (scan === undefined) throw NotFound('scan');
      return scan;
    },
  }) satisfies Scans<Context>;
