import type { Customers } from '../../../../generated/billing/server.ts';
import type { Context } from '../../../http/context.ts';
import { viewOf } from '../../../http/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../deps.ts';
import { CustomerNotFound } from '../errors.ts';
import { pageOf } from '../pages.ts';
import { isChanged, previousOf } from '../previous.ts';
import { addressOf, changedRow, checkTerms, customerOf, isCountryRemoved, toldOf } from './customer.ts';
import { customerStore } from './customers.store.ts';

type Records = Pick<Customers<Context>, 'create' | 'list' | 'get' | 'getByEmail' | 'update'>;

/** Customers: the parties that are billed for a tenant. */
export const customers = ({ db, write, clock }: Pick<Deps, 'db' | 'write' | 'clock'>) =>
  ({
    async create({ body: { tenant_id, ...body } }, context) {
      checkTerms(body);
      const at = new Date(clock.now()).toISOString();
      const row = {
        id: newId('cus'),
        tenant_id: tenant_id ?? context.tenant,
        app_id: context.app,
        ...body,
        billing_address: addressOf(body.billing_address),
        balance: 0,
        carried_amount: 0,
        created_at: at,
        updated_at: at,
      };
      return await write(context, async ({ sql, emit }) => {
        await customerStore(sql).insert(row);
        const customer = customerOf(row);
        emit('billing.customer.created', customer, toldOf(customer));
        return customer;
      });
    },

    async list({ tenant_id, ...page }, context) {
      return pageOf(page, await customerStore(db.sql).list(viewOf(context, tenant_id), page), customerOf);
    },

    async get({ id }, context) {
      const row = await customerStore(db.sql).find(viewOf(context), id);
      if (row === undefined) throw CustomerNotFound();
      return customerOf(row);
    },

    // The operator, too, asks in one tenant: others may have customers with the same address.
    async getByEmail({ email }, { tenant, app }) {
      const row = await customerStore(db.sql).findByEmail(tenant, app, email);
      if (row === undefined) throw CustomerNotFound();
      return customerOf(row);
    },

    async update({ id, body }, context) {
      checkTerms(body);
      return await write(context, async ({ sql, emit }) => {
        const store = customerStore(sql);
        const row = await store.lock(viewOf(context), id);
        if (row === undefined) throw CustomerNotFound();
        const changed = changedRow(row, body, clock.now());
        if (changed.currency !== row.currency && (await store.isBilled(row)))
          throw Invalid('currency: the customer is billed in another one');
        // A country that is missing would leave the tax of what is owed open.
        if (!context.operator && isCountryRemoved(row, changed) && (await store.isBilled(row)))
          throw Invalid(
            'billing_address: only the operator removes the country while the customer is billed',
          );
        const [before, after] = [customerOf(row), customerOf(changed)];
        if (!isChanged(before, after)) return before;
        await store.update(changed);
        emit('billing.customer.updated', after, {
          ...toldOf(after),
          previous: previousOf(toldOf(before), toldOf(after)),
        });
        return after;
      });
    },
  }) satisfies Records;
