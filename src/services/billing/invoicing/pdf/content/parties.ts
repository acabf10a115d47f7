import type { BillingAddress, BillTo } from '../../../../../../generated/billing/types.ts';
import type { Seller } from '../../../settings.ts';

/** Somebody whom the invoice names, line by line. */
export interface Party {
  readonly name: string;
  readonly lines: readonly string[];
}

export const sellerParty = ({ name, address, tax_id }: Seller): Party => ({
  name,
  lines: [...address, ...(tax_id === '' ? [] : [`Tax ID ${tax_id}`])],
});

export const billedParty = ({ name, email, billing_address, tax_ids }: BillTo): Party => ({
  name,
  lines: [
    ...(billing_address === null ? [] : addressLines(billing_address)),
    email,
    ...tax_ids.map(({ type, value }) => `${taxIdName(type)} ${value}`),
  ].filter((line) => line.trim() !== ''),
});

function addressLines({ line1, line2, city, state, postal_code, country }: BillingAddress): string[] {
  const town = [postal_code, city].filter(Boolean).join(' ');
  const place = [town, state].filter(Boolean).join(', ');
  return [line1 ?? '', line2 ?? '', place, country === null ? '' : countryName(country)];
}

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

const countryName = (code: string): string => countries.of(code) ?? code;

/** `eu_vat` is shown as `EU VAT`. */
const taxIdName = (type: string): string => type.replaceAll('_', ' ').toUpperCase();
