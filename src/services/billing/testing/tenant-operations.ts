/**
 * What a tenant's own key may do, and what that may do to its bill, its limits, its trials and its discounts. Every operation that is not
 * the operator's alone is here; the random sequences of the tests take those that may do something.
 */
export interface Effects {
  /** What it may do to what the tenant is billed. */
  readonly bill: string;
  /** What it may do to what the tenant may use. */
  readonly limits: string;
  /** What it may do to its trial. */
  readonly trial: string;
  /** What it may do to its discounts. */
  readonly discounts: string;
}

/** It changes nothing of these. */
const none = 'nothing';
const nothing: Effects = { bill: none, limits: none, trial: none, discounts: none };

/** Whether an operation may do anything to what a tenant is billed or may use. */
export const hasEffect = (effects: Effects): boolean => Object.values(effects).some((one) => one !== none);

export const tenantOperations: Readonly<Record<string, Effects>> = {
  Coupons_redeem: {
    ...nothing,
    discounts: 'takes a discount that the operator offers under this code, once for each coupon',
  },

  Customers_create: {
    ...nothing,
    bill: 'names who is billed: the same amount, with the tax of its address',
  },
  Customers_update: { ...nothing, bill: 'the same amount, with the tax of the new address' },
  Customers_delete: { ...nothing, bill: 'who owes or subscribes stays: nothing is written off' },
  Customers_list: nothing,
  Customers_get: nothing,
  Customers_getByEmail: nothing,
  Customers_subscriptions: nothing,
  Customers_invoices: nothing,
  Customers_usage: nothing,
  Customers_export: nothing,

  Entitlements_check: nothing,
  Entitlements_checkBatch: nothing,
  Entitlements_list: nothing,
  Entitlements_invalidate: nothing,

  Invoices_create: {
    ...nothing,
    bill: 'drafts what is owed by now; what a final invoice bills is billed once',
  },
  Invoices_list: nothing,
  Invoices_get: nothing,
  Invoices_pdf: nothing,

  Meter_record: { ...nothing, bill: 'raises it by the price of the use', limits: 'uses them up' },
  Meter_recordBatch: { ...nothing, bill: 'raises it by the price of the use', limits: 'uses them up' },
  Meter_list: nothing,
  Meter_get: nothing,
  Meter_usage: nothing,
  Meter_history: nothing,

  PaymentMethods_create: { ...nothing, bill: 'the same amount, collected with it' },
  PaymentMethods_setDefault: { ...nothing, bill: 'the same amount, collected with it' },
  PaymentMethods_delete: { ...nothing, bill: 'the same amount, which becomes overdue unless it is paid' },
  PaymentMethods_list: nothing,

  Payments_create: { ...nothing, bill: 'makes a draft final, and pays what is due of it' },
  Payments_cancel: { ...nothing, bill: 'leaves due what it would have paid' },
  Payments_list: nothing,
  Payments_get: nothing,

  Plans_list: nothing,
  Plans_get: nothing,

  Subscriptions_create: {
    bill: 'begins the periods of a plan that is offered, now',
    limits: 'gives those of the plan, less what the tenant has used in the window',
    trial: 'takes the trial of the plan, unless the tenant has had one',
    discounts: none,
  },
  Subscriptions_changePlan: {
    bill: 'bills each plan for the time for which it was used',
    limits: 'gives those of the plan, less what the tenant has used in the window',
    trial: 'ends one that the plan does not have',
    discounts: none,
  },
  Subscriptions_cancel: {
    bill: 'bills what was used until the end',
    limits: 'ends them',
    trial: 'ends it',
    discounts: 'ends them with the subscription',
  },
  Subscriptions_uncancel: { ...nothing, bill: 'goes on as if it had not been canceled', limits: 'go on' },
  Subscriptions_update: nothing,
  Subscriptions_list: nothing,
  Subscriptions_get: nothing,
  Subscriptions_upcoming: nothing,

  TaxRates_list: nothing,

  // Whoever sends these knows the secret of the provider, and a tenant does not.
  Notifications_cardProvider: nothing,
  Notifications_billingProvider: nothing,
};

/** What only the operator may say in a request that tenants may send, because it lowers a bill or raises what may be used. */
export const operatorMembers: readonly {
  readonly operation: string;
  readonly member: string;
  /** A value that is refused. */
  readonly value: unknown;
}[] = [
  { operation: 'Subscriptions_create', member: 'trial_days', value: 30 },
  { operation: 'Subscriptions_create', member: 'starts_at', value: '2026-01-01T00:00:00.000Z' },
  { operation: 'Subscriptions_changePlan', member: 'prorate', value: false },
  { operation: 'Meter_record', member: 'quantity', value: -1 },
];
