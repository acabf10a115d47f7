import type { AuditEvent, ChainRecord, StoredRecord } from '../../../../generated/audit/types.ts';
import type { ChainedEvent } from '../append/chained.ts';
import type { Deps } from '../deps.ts';
import { type OpenedKeys, openedKeys } from '../keys/persons.ts';
import type { PersonKey } from '../record/person-key.ts';
import { type ActorPart, type ContentPart, openPart, type PartName } from '../record/parts.ts';
import { partDigest } from '../record/record.ts';
import { inSlices } from '../../../lib/slices.ts';
import { type Coverage, coverageOf } from './coverage.ts';
import type { EventRow, KeyedRow } from './events.store.ts';

/** Events as responses show them: what belongs to persons who were erased is null, and so is what cannot be read. */
export async function eventViews(
  { db, sealer }: Pick<Deps, 'db' | 'sealer'>,
  rows: readonly KeyedRow[],
): Promise<AuditEvent[]> {
  const keys = openedKeys(sealer);
  const opened = await inSlices(rows, (row) => openedEvent(row, keys));
  const coverage = await coverageOf(
    db.sql,
    opened.filter(({ lacking }) => lacking.length > 0).map(({ row }) => row),
  );
  return opened.map((event) => eventView(event, coverage));
}

/** An event with those of its parts that can be read. */
interface OpenedEvent {
  readonly row: KeyedRow;
  readonly actor: ActorPart | undefined;
  readonly content: ContentPart | undefined;
  /** The others. */
  readonly lacking: readonly PartName[];
}

function openedEvent(row: KeyedRow, keys: OpenedKeys): OpenedEvent {
  const actor = partOf<ActorPart>(row, 'actor', keys(row.tenant_id, row.actor_sealed, row.actor_ref));
  const content = partOf<ContentPart>(
    row,
    'content',
    keys(row.tenant_id, row.subject_sealed, row.subject_ref),
  );
  const lacking: PartName[] = [];
  if (actor === undefined) lacking.push('actor');
  if (content === undefined) lacking.push('content');
  return { row, actor, content, lacking };
}

function eventView({ row, actor, content, lacking }: OpenedEvent, coverage: Coverage): AuditEvent {
  const coverings = lacking.map((part) => coverage(row, part));
  const erasures = coverings.flatMap((one) => (one === undefined || one === 'purged' ? [] : [one]));
  const last = erasures.sort((a, b) => b.sequence - a.sequence)[0];
  return {
    id: row.id,
    stream_id: row.stream_id,
    sequence: row.sequence,
    timestamp: row.timestamp,
    recorded_at: row.recorded_at,
    recorded_by: row.recorded_by,
    source: row.source,
    app_id: row.app_id,
    tenant_id: row.tenant_id,
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
    erased: last !== undefined,
    erasure_id: last?.erasure_id ?? null,
    unreadable: coverings.includes(undefined),
  };
}

/** Undefined when its key is missing, or somebody changed what is stored. */
function partOf<Part extends ActorPart | ContentPart>(
  row: EventRow,
  part: PartName,
  key: PersonKey | undefined,
): Part | undefined {
  try {
    const stored = { bytes: row[part], commitment: row[`${part}_key`] };
    const binding = { v: row.v, proof: part === 'content' ? row.resource_proof : null };
    return openPart<Part>(stored, { part, eventId: row.id, salt: row.salt }, key, binding);
  } catch {
    return undefined;
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
  v: row.v,
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
    unreadable: false,
  };
}
