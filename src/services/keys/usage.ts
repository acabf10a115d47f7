import type { Usage } from '../../../generated/keys/server.ts';
import type {
  Granularity,
  KeyId,
  Outcome,
  UsageAggregate,
  UsageRecord,
} from '../../../generated/keys/types.ts';
import type { Clock } from '../../db/clock.ts';
import type { Database } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { keyStore } from './keys.store.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { checkPeriods, rangeOf, type RangeRequest } from './validation/periods.ts';
import { sortReport } from './validation/reports.ts';
import { usageStore } from './validation/usage.store.ts';
import type { Validator } from './validation/validator.ts';

export interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly validator: Pick<Validator, 'recorder' | 'fold'>;
}

interface ListRequest extends RangeRequest {
  readonly limit: number;
  readonly outcome?: Outcome | undefined;
  readonly cursor?: string | undefined;
}

const day = 86_400_000;

/** Usage: the outcome of every validation and of every reported request. A read includes everything answered before it. */
export const usage = ({ db, clock, validator: { recorder, fold } }: Deps) => {
  const store = usageStore(db.sql);

  async function listUses(
    key: KeyId | undefined,
    request: ListRequest,
    context: Context,
  ): Promise<UsageRecord[]> {
    const window = windowOf(request);
    const range = rangeOf(request, day, clock.now());
    await fold.now();
    const filter = { key, outcome: request.outcome, ...range };
    const found = await store.list(context.tenant, filter, window);
    return answerPage(context.reply, window, found);
  }

  async function addUp(
    key: KeyId | undefined,
    request: RangeRequest & { granularity: Granularity },
    { tenant }: Context,
  ): Promise<UsageAggregate[]> {
    const range = rangeOf(request, 30 * day, clock.now());
    checkPeriods(range, request.granularity);
    await fold.now();
    return store.aggregate({ tenant, key, ...range, granularity: request.granularity });
  }

  return {
    async forKey({ keyId, ...request }, context) {
      await keyStore(db.sql).get(context.tenant, keyId);
      return listUses(keyId, request, context);
    },

    async aggregateForKey({ keyId, ...request }, context) {
      await keyStore(db.sql).get(context.tenant, keyId);
      return addUp(keyId, request, context);
    },

    list: ({ key_id, ...request }, context) => listUses(key_id, request, context),

    aggregate: (request, context) => addUp(undefined, request, context),

    async report({ body: { records } }, { tenant }) {
      recorder.checkRoom();
      const known = await store.existing(tenant, [...new Set(records.map(({ key_id }) => key_id))]);
      const { accepted, rejected } = sortReport(records, tenant, known, clock.now());
      await recorder.keepAll(accepted);
      return { accepted: accepted.length, rejected };
    },
  } satisfies Usage<Context>;
};
