/** The year in which an invoice is numbered, in UTC. */
export const numberingYear = (instant: number): number => new Date(instant).getUTCFullYear();

/** The number of an invoice: `INV-2026-000042`. A sequence beyond a million has more digits. */
export const invoiceNumber = (year: number, sequence: number): string =>
  `INV-${String(year).padStart(4, '0')}-${String(sequence).padStart(6, '0')}`;

/** Whether an invoice is named by its number instead of its id. */
export const isInvoiceNumber = (reference: string): boolean => reference.startsWith('INV-');
