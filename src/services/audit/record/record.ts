import { hash } from 'node:crypto';
import type { ChainRecord } from '../../../../generated/audit/types.ts';
import { sha256 } from './mac-key.ts';

/** The hash before the first event of a stream. */
export const noHash = Buffer.alloc(32);

/**
 * The canonical JSON of a record (RFC 8785). Its members are known and in their order, so that it is written directly, several times
 * faster than by a program that sorts them.
 */
export const recordText = (record: ChainRecord): string =>
  `{"action":${quoted(record.action)},"actor":"${record.actor}","actor_key":${hashOrNull(record.actor_key)},"actor_type":${quoted(record.actor_type)},` +
  `"app_id":${quoted(record.app_id)},"category":${quoted(record.category)},"content":"${record.content}",` +
  `"content_key":${hashOrNull(record.content_key)},"id":"${record.id}","outcome":"${record.outcome}","prev_hash":"${record.prev_hash}",` +
  `"recorded_at":"${record.recorded_at}","recorded_by":${quoted(record.recorded_by)},"resource":${quoted(record.resource)},` +
  `"salt":"${record.salt}","sequence":${record.sequence},"severity":"${record.severity}",` +
  `"source":${record.source === null ? 'null' : quoted(record.source)},"stream_id":"${record.stream_id}",` +
  `"tenant_id":${quoted(record.tenant_id)},"timestamp":"${record.timestamp}","v":${record.v}}`;

/** The hash of a record: the link of the chain, and at once a leaf of a Merkle tree (RFC 6962). */
export const recordHash = (record: ChainRecord): Buffer => sha256(`\0${recordText(record)}`);

/** The digest of a stored part, as the record has it. */
export const partDigest = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

const quoted = (text: string): string => JSON.stringify(text);
const hashOrNull = (hash: string | null): string => (hash === null ? 'null' : `"${hash}"`);
