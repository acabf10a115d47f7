import { expect, it } from 'vitest';
import { invoiceNumber, isInvoiceNumber, numberingYear } from './numbers.ts';

it('invoice numbers have the year in UTC and six digits or more', () => {
  expect(invoiceNumber(numberingYear(Date.parse('2025-12-31T23:30:00-01:00')), 42)).toBe('INV-2026-000042');
  expect(invoiceNumber(2026, 1_234_567)).toBe('INV-2026-1234567');
  expect(['INV-2026-000042', 'inv_01khgbwb6gfcvt5fwr9s2r6n64'].map(isInvoiceNumber)).toEqual([true, false]);
});
