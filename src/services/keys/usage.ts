import type { Usage } from '../../../generated/keys/server.ts';
import type {
  Granularity,
  KeyId,
  Outcome,
  UsageAggregate,
  UsageRecord,
} from '../../../generated/keys/types.ts';
import type { Database } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { keyStore } from './keys.store.ts';
import { answerPage, newestFirst, placeOf } from '../../http/lists.ts';
import { checkPeriods, rangeOf, type RangeRequest } from './validation/periods.ts';
import { sortReport } from './validation/reports.ts';
import { usageStore } from './validation/usage.store.ts';
import type { Validator } from './validation/validator.ts';

export interface Deps {
  readonly db: Database;
  readonly validator: Pick<Validator, 'recorder' | 'fold'>;
}

interface ListRequest extends RangeRequest {
  readonly limit: number;
  readonly outcome?: Outcome | undefined;
  readonly cursor?: string | undefined;
}

const day = 86_400_000;

/** Usage: what became of every validation and of every request that was reported. A read sees all that was answered before. */
export const usage = ({ db, validator: { recorder, fold } }: Deps) => {
  const store = usageStore(db.sql);

  async function listUses(
    key: KeyId | undefined,
    request: ListRequest,
    context: Context,
  ): Promise<UsageRecord[]> {
    const { limit, outcome } = request;
    const { after } = newestFirst(request);
    const range = rangeOf(request, day);
    await fold.now();
    const found = await store.list({ tenant: context.tenant, key, outcome, ...range, after, limit });
    return answerPage(context.reply, found, limit, placeOf);
  }

  async function addUp(
    key: KeyId | undefined,
    request: RangeRequest & { granularity: Granularity },
    { tenant }: Context,
  ): Promise<UsageAggregate[]> {
    const range = rangeOf(request, 30 * day);
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
      const { accepted, rejected } = sortReport(records, tenant, known, Date.now());
      await recorder.keepAll(accepted);
      return { accepted: accepted.length, rejected };
    },
  } satisfies Usage<Context>;
};
