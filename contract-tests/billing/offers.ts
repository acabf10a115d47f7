/** Set-up for the tests of billing: what an app offers, created through the SDK on the mock and on the server. */
import { randomBytes } from 'node:crypto';
import type { Coupon, Customer, Plan } from '../../generated/billing/types.ts';
import type { Api, Credential } from '../harness.ts';

/** Well-formed ids that name nothing. */
export const absent = {
  plan: 'plan_01h455vb4pex5vsknk084sn0zz',
  subscription: 'sub_01h455vb4pex5vsknk084sn0zz',
  customer: 'cus_01h455vb4pex5vsknk084sn0zz',
  coupon: 'cpn_01h455vb4pex5vsknk084sn0zz',
  taxRate: 'txr_01h455vb4pex5vsknk084sn0zz',
} as const;

/** Each name is used once, because all tenants share the catalogue. */
export const newName = (): string => `t${randomBytes(6).toString('hex')}`;

/** Creates a plan, as the operator. */
export const newPlan = async (api: Api, more: object = {}): Promise<Plan> =>
  await api.operator().plinth.billing.plans.create({ body: { name: newName(), currency: 'usd', ...more } });

/** Creates a coupon, as the operator. */
export const newCoupon = async (api: Api, more: object = {}): Promise<Coupon> =>
  await api.operator().plinth.billing.coupons.create({
    body: { code: newName(), type: 'percentage', percentage: '10', ...more },
  });

export const newCustomer = async (
  { plinth }: Pick<Credential, 'plinth'>,
  more: object = {},
): Promise<Customer> =>
  await plinth.billing.customers.create({
    body: { name: 'Acme GmbH', email: `${newName()}@acme.example`, ...more },
  });
