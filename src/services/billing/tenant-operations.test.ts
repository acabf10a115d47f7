import { describe, expect, it } from 'vitest';
import { operations } from '../../../generated/operations.ts';
import { hasEffect, operatorMembers, tenantOperations } from './testing/tenant-operations.ts';
import { actions } from './testing/tenant-sequences.ts';

const ofBilling = operations.filter(({ service }) => service === 'billing');
const tenants = ofBilling.filter(({ access }) => access !== 'operator').map(({ id }) => id);

describe('what a tenant may do with its own key', () => {
  it('is said of every operation that is not the operator’s alone, and of no other', () => {
    expect(Object.keys(tenantOperations).sort()).toEqual([...tenants].sort());
  });

  it('is nothing where it only reads', () => {
    const reading = ofBilling.filter(({ access }) => access === 'read').map(({ id }) => id);
    expect(reading.filter((id) => hasEffect(tenantOperations[id]!))).toEqual([]);
  });

  it('is done in the random sequences wherever it may do anything to a bill, to limits, trials or discounts', () => {
    const effective = tenants.filter((id) => hasEffect(tenantOperations[id]!));
    expect([...new Set(Object.values(actions))].sort()).toEqual([...effective].sort());
  });

  it('has members that are the operator’s only in operations that it may call', () => {
    expect(operatorMembers.filter(({ operation }) => !tenants.includes(operation))).toEqual([]);
  });

  it('does not lower a bill: pausing, voiding, crediting and refunding are the operator’s', () => {
    const lowering = [
      ...[
        'Subscriptions_pause',
        'Subscriptions_resume',
        'Invoices_void',
        'Invoices_pay',
        'Invoices_finalize',
      ],
      ...[
        'Customers_credit',
        'Payments_refund',
        'Meter_void',
        'Coupons_create',
        'Plans_update',
        'TaxRates_delete',
      ],
    ];
    expect(lowering.filter((id) => tenants.includes(id))).toEqual([]);
  });
});
