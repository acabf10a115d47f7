import type { TaxRates } from '../../../../generated/billing/server.ts';
import type { Context } from '../../../http/context.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../deps.ts';
import { TaxRateNotFound } from '../errors.ts';
import { pageOf } from '../pages.ts';
import { taxRateStore } from './tax-rates.store.ts';

/** Tax rates: the tax of each country or state. */
export const taxRates = ({ db, write, clock }: Pick<Deps, 'db' | 'write' | 'clock'>) =>
  ({
    async create({ body: { country, state, name, rate } }, context) {
      const made = {
        id: newId('txr'),
        country: country.toUpperCase(),
        // An empty state would be the country itself.
        state: state?.trim() || null,
        name,
        rate,
        app_id: context.app,
        created_at: new Date(clock.now()).toISOString(),
      };
      await write(context, ({ sql }) => taxRateStore(sql).insert(made));
      return made;
    },

    async list(page, { app }) {
      return pageOf(page, await taxRateStore(db.sql).list(app, page), (rate) => rate);
    },

    async delete({ id }, context) {
      await write(context, async ({ sql }) => {
        if (!(await taxRateStore(sql).delete(context.app, id))) throw TaxRateNotFound();
      });
    },
  }) satisfies TaxRates<Context>;
