import type {
  BillingAddress,
  BillingAddressInput,
  Customer,
  CustomerUpdate,
} from '../../../../generated/billing/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { Refused } from '../errors.ts';
import { checkMetadata } from '../metadata.ts';
import { isCurrency, moneyOf } from '../money/money.ts';
import type { CustomerRow } from './customers.store.ts';
import { isEmail } from './email.ts';

/** A customer as responses show it. */
export const customerOf = ({ balance, carried_amount, ...row }: CustomerRow): Customer => ({
  ...row,
  balance: moneyOf(BigInt(balance) + BigInt(carried_amount), row.currency),
});

/** What events say of a customer: nothing that has to be erased with it. */
export const toldOf = ({
  name: _name,
  email: _email,
  billing_address: _address,
  tax_ids: _taxIds,
  ...told
}: Customer): Omit<Customer, 'name' | 'email' | 'billing_address' | 'tax_ids'> => told;

/** Checks what the contract cannot say about a request. @throws `invalid_email`, or Invalid naming the member */
export function checkTerms({ email, currency, metadata }: CustomerUpdate): void {
  if (email !== undefined && !isEmail(email)) throw Refused('invalid_email', 'email: not an email address');
  if (currency !== undefined && !isCurrency(currency)) throw Invalid('currency: must be a currency code');
  if (metadata !== undefined) checkMetadata(metadata);
}

/** A customer after a change, in which absent members keep their value. */
export const changedRow = (
  row: CustomerRow,
  { billing_address, ...terms }: CustomerUpdate,
  now: number,
): CustomerRow => ({
  ...row,
  ...terms,
  ...(billing_address !== undefined && { billing_address: addressOf(billing_address) }),
  updated_at: new Date(now).toISOString(),
});

export const isCountryRemoved = (
  before: Pick<CustomerRow, 'billing_address'>,
  after: Pick<CustomerRow, 'billing_address'>,
): boolean =>
  (before.billing_address?.country ?? null) !== null && (after.billing_address?.country ?? null) === null;

/** An address with all its members. */
export const addressOf = (sent: BillingAddressInput | null): BillingAddress | null =>
  sent && {
    line1: sent.line1 ?? null,
    line2: sent.line2 ?? null,
    city: sent.city ?? null,
    state: sent.state ?? null,
    postal_code: sent.postal_code ?? null,
    country: sent.country?.toUpperCase() ?? null,
  };
