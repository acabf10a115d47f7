import type { PaymentMethods } from '../../../../generated/billing/server.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { CustomerNotFound } from '../errors.ts';
import type { PaymentDeps } from './deps.ts';
import { attach, detach, makeDefault, methodOf } from './methods.ts';
import { methodStore } from './methods.store.ts';
import { payerStore } from './payers.store.ts';

/** Payment methods: the cards and accounts with which customers pay. */
export const paymentMethods = (deps: PaymentDeps) => {
  const asking = (context: Context) => ({ author: context, view: viewOf(context) });
  return {
    create: async ({ body }, context) => methodOf(await attach(deps, asking(context), body)),

    async list({ customer_id }, context) {
      const customer = await payerStore(deps.db.sql).find(viewOf(context), customer_id);
      if (customer === undefined) throw CustomerNotFound();
      const methods = await methodStore(deps.db.sql).list({ tenant_id: customer.tenant_id, customer_id });
      return methods.map(methodOf);
    },

    delete: ({ id }, context) => detach(deps, asking(context), id),

    setDefault: async ({ id }, context) => methodOf(await makeDefault(deps, asking(context), id)),
  } satisfies PaymentMethods<Context>;
};
