/** Billing against the rows that it stores without counting them, against a transaction for each event, and against a plain select. */
import { check } from './billing/check.ts';
import { ingest, large, single, stretches } from './billing/ingest.ts';
import type { Measurements } from './row.ts';

export default { ingest, single, large, stretches, check } satisfies Measurements;
