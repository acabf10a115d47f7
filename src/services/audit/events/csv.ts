import type { AuditEvent } from '../../../../generated/audit/types.ts';
import { csvLine } from '../../../lib/csv.ts';

/** The columns of exported events: members of events, by their names. */
const columns = [
  'sequence',
  'id',
  'timestamp',
  'recorded_at',
  'tenant_id',
  'user_id',
  'actor_type',
  'ip',
  'user_agent',
  'action',
  'resource',
  'resource_id',
  'subject_id',
  'category',
  'outcome',
  'severity',
  'reason',
  'source',
  'recorded_by',
  'metadata',
  'hash',
  'erased',
] as const satisfies readonly (keyof AuditEvent)[];

export const eventCsvHeader = csvLine(columns);

/** An event as a line of CSV; its metadata are JSON. */
export const eventCsvLine = (event: AuditEvent): string =>
  csvLine(
    columns.map((column) => {
      const value = event[column];
      return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
    }),
  );
