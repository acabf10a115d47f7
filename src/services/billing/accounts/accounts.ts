import type { Customers } from '../../../../generated/billing/server.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { customerStore, type CustomerRow } from '../customers/customers.store.ts';
import type { Grants } from '../entitlements/grants.ts';
import { CustomerNotFound } from '../errors.ts';
import { invoiceOf } from '../invoices/invoice.ts';
import { invoiceStore } from '../invoices/invoices.store.ts';
import { moneyOf } from '../money/money.ts';
import { pageOf } from '../pages.ts';
import type { PaymentDeps } from '../payments/deps.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import { subscriptionStore } from '../subscriptions/subscriptions.store.ts';
import { giveCredit } from './credit.ts';
import { erase } from './erasure.ts';
import { exported } from './export.ts';
import { usageOf } from './usage.ts';

export interface AccountDeps extends PaymentDeps {
  readonly grants: Grants;
}

type Account = 'delete' | 'credit' | 'subscriptions' | 'invoices' | 'usage' | 'export';

/** What concerns a customer beyond its record: its credit, its subscriptions and invoices, and its erasure. */
export function accounts(deps: AccountDeps) {
  const { db } = deps;
  const found = async (context: Context, id: string): Promise<CustomerRow> => {
    const customer = await customerStore(db.sql).find(viewOf(context), id);
    if (customer === undefined) throw CustomerNotFound();
    return customer;
  };
  return {
    delete: ({ id }, context) => erase(deps, context, id),

    async credit({ id, body }, context) {
      const { customer, balance } = await giveCredit(deps, context, id, body);
      return {
        customer_id: id,
        balance: moneyOf(balance, customer.currency),
        credit_applied: moneyOf(BigInt(body.amount.amount), customer.currency),
      };
    },

    async subscriptions({ id, ...page }, context) {
      const { tenant_id, app_id } = await found(context, id);
      const view = { tenant: tenant_id, app: app_id };
      return pageOf(page, await subscriptionStore(db.sql).list(view, {}, page), subscriptionOf);
    },

    async invoices({ id, status, ...page }, context) {
      const { tenant_id, app_id } = await found(context, id);
      const view = { tenant: tenant_id, app: app_id };
      const rows = await invoiceStore(db.sql).list(view, { customer_id: id, status }, page);
      return pageOf(page, rows, (row) => invoiceOf(row, []));
    },

    usage: async ({ id }, context) => usageOf(deps, await found(context, id)),

    export: async ({ id }, context) => exported(deps, await found(context, id)),
  } satisfies Pick<Customers<Context>, Account>;
}
