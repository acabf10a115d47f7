/** The member of a measured event's data that says when the event was sent. */
export interface Sent {
  readonly sent_at: number;
}

/** Milliseconds since 1970, which two processes of one machine can compare to fractions of a millisecond. */
export const moment = (): number => performance.timeOrigin + performance.now();

const filler = Array.from({ length: 12 }, (_, at) => ({
  sku: `article-${at}`,
  name: 'a line of the invoice, of average length',
  amount: 100 * at,
}));

/** Data of about one kilobyte. */
export const payload = (): Sent & { readonly lines: object } => ({ sent_at: moment(), lines: filler });
