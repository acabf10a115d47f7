import type { AuditEvent, ChainRecord, StoredRecord } from '../../../../generated/audit/types.ts';
import type { ChainedEvent } from '../append/chained.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { type OpenedKeys, openedKeys } from '../keys/persons.ts';
import type { MacKey } from '../record/mac-key.ts';
import { type ActorPart, type ContentPart, openPart, type PartName } from '../record/parts.ts';
import { partDigest } from '../record/record.ts';
import { inSlices } from '../../../lib/slices.ts';
import type { EventRow, KeyedRow } from './events.store.ts';

/** Events as responses show them: what belongs to persons who were erased is null. */
export async function eventViews(sealer: Sealer, rows: readonly KeyedRow[]): Promise<AuditEvent[]> {
  const keys = openedKeys(sealer);
  return await inSlices(rows, (row) => eventView(row, keys));
}

function eventView(row: KeyedRow, keys: OpenedKeys): AuditEvent {
  const { tenant_id, app_id, id: eventId } = row;
  const actor = partOf<ActorPart>(row, 'actor', keys(tenant_id, row.actor_sealed));
  const content = partOf<ContentPart>(row, 'content', keys(tenant_id, row.subject_sealed));
  return {
    id: eventId,
    stream_id: row.stream_id,
    sequence: row.sequence,
    timestamp: row.timestamp,
    recorded_at: row.recorded_at,
    recorded_by: row.recorded_by,
    source: row.source,
    app_id,
    tenant_id,
    user_id: actor?.user_id ?? null,
    actor_type: row.actor_type,
    ip: actor?.ip ?? null,
    user_agent: actor?.user_agent ?? null,
    action: row.action,
    resource: row.resource,
    category: row.category,
    resource_id: content?.resource_id ?? null,
    subject_id: content?.subject_id ?? null,
    outcome: row.outcome,
    severity: row.severity,
    reason: content?.reason ?? null,
    metadata: (content?.metadata ?? null) as AuditEvent['metadata'],
    prev_hash: row.prev_hash.toString('hex'),
    hash: row.hash.toString('hex'),
    erased: actor === undefined || content === undefined,
    erasure_id: row.erasure_id,
  };
}

/** Undefined when the person was erased; null when somebody changed what is stored, which a verification reports. */
function partOf<Part extends ActorPart | ContentPart>(
  row: EventRow,
  part: PartName,
  key: MacKey | undefined,
): Part | null | undefined {
  try {
    const stored = { bytes: row[part], commitment: row[`${part}_key`] };
    return openPart<Part>(stored, { part, eventId: row.id, salt: row.salt }, key);
  } catch {
    return null;
  }
}

/** The record of an event, rebuilt from what is stored. */
export const chainRecord = (row: EventRow): ChainRecord => ({
  action: row.action,
  actor: partDigest(row.actor),
  actor_key: row.actor_key?.toString('hex') ?? null,
  actor_type: row.actor_type,
  app_id: row.app_id,
  category: row.category,
  content: partDigest(row.content),
  content_key: row.content_key?.toString('hex') ?? null,
  id: row.id,
  outcome: row.outcome,
  prev_hash: row.prev_hash.toString('hex'),
  recorded_at: row.recorded_at,
  recorded_by: row.recorded_by,
  resource: row.resource,
  salt: row.salt.toString('base64url'),
  sequence: row.sequence,
  severity: row.severity,
  source: row.source,
  stream_id: row.stream_id,
  tenant_id: row.tenant_id,
  timestamp: row.timestamp,
  v: 1,
});

export const storedRecord = (row: EventRow): StoredRecord => ({
  record: chainRecord(row),
  hash: row.hash.toString('hex'),
  actor: row.actor.toString('base64'),
  content: row.content.toString('base64'),
});

/** An event that was just recorded, as responses show it. */
export function recordedView({ event, record, hash }: ChainedEvent): AuditEvent {
  const { user_id, ip, user_agent, resource_id, subject_id, reason, metadata } = event.value;
  return {
    id: record.id,
    stream_id: record.stream_id,
    sequence: record.sequence,
    timestamp: record.timestamp,
    recorded_at: record.recorded_at,
    recorded_by: record.recorded_by,
    source: record.source,
    app_id: record.app_id,
    tenant_id: record.tenant_id,
    user_id,
    actor_type: record.actor_type,
    ip,
    user_agent,
    action: record.action,
    resource: record.resource,
    category: record.category,
    resource_id,
    subject_id,
    outcome: record.outcome,
    severity: record.severity,
    reason,
    metadata: metadata as AuditEvent['metadata'],
    prev_hash: record.prev_hash,
    hash: hash.toString('hex'),
    erased: false,
    erasure_id: null,
  };
}
