import type { Tables } from '../../../generated/sync/server.ts';
import { fromText } from '../../../sdk/src/sync/hlc.ts';
import type { Context } from '../../http/context.ts';
import { datasetOf } from './dataset.ts';
import type { Deps } from './deps.ts';
import { tableStore } from './tables.store.ts';

export const tables = ({ db }: Pick<Deps, 'db'>) =>
  ({
    async list(_, context) {
      const stored = await tableStore(db.sql).list(datasetOf(context));
      return stored.map(({ name, latest_hlc, horizon_hlc }) => ({
        name,
        latest_hlc: fromText(latest_hlc),
        horizon_hlc: horizon_hlc === '' ? null : fromText(horizon_hlc),
      }));
    },
  }) satisfies Tables<Context>;
