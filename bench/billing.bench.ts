/** Billing against the rows that it stores without counting them, against a transaction for each event, and against a plain select. */
import { check } from './billing/check.ts';
import { ingest, large, single, stretches } from './billing/ingest.ts';
import { notification } from './billing/notification.ts';
import { pdf } from './billing/pdf.ts';
import { rating } from './billing/rating.ts';
import { idleTick, renewal } from './billing/renewal.ts';
import type { Measurements } from './row.ts';

export default {
  ingest,
  single,
  large,
  stretches,
  check,
  rating,
  renewal,
  idleTick,
  notification,
  pdf,
} satisfies Measurements;
