import type { AuditEvent } from '../../../../generated/audit/types.ts';

/** What the files of a report show of an event: members by their names. */
export const columns = [
  'sequence',
  'timestamp',
  'action',
  'resource',
  'resource_id',
  'category',
  'outcome',
  'severity',
  'user_id',
  'ip',
  'reason',
] as const satisfies readonly (keyof AuditEvent)[];

/** The values of an event in these columns; what was erased is null. */
export const cellsOf = (event: AuditEvent): (string | number | null)[] =>
  columns.map((column) => event[column] ?? null);
