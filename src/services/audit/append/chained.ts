import type { ChainRecord } from '../../../../generated/audit/types.ts';
import { refOf } from '../keys/refs.ts';
import { type PersonKeys, personOf } from '../keys/persons.ts';
import type { Person } from '../keys/persons.store.ts';
import { partDigest, recordHash } from '../record/record.ts';
import { type PartName, resourceProof, storedPart, type StoredPart } from '../record/parts.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import type { Head } from '../streams/streams.store.ts';
import type { NewEvent } from './new-event.ts';

/** An event with the stream in which it will be numbered. */
export interface Placed {
  readonly event: NewEvent;
  readonly stream: KnownStream;
}

/** An event with its number and its hash, as it will be stored. */
export interface ChainedEvent extends Placed {
  readonly record: ChainRecord;
  readonly hash: Buffer;
  readonly salt: Buffer;
  readonly actor: StoredPart;
  readonly content: StoredPart;
  readonly actorRef: Buffer | null;
  readonly subjectRef: Buffer | null;
  readonly resourceRef: Buffer | null;
  readonly resourceProof: Buffer | null;
}

/** An event with the persons to whom its parts belong. */
export interface Owned extends Placed {
  readonly actorPerson: Person | undefined;
  readonly contentPerson: Person | undefined;
}

export function owned(placed: Placed): Owned {
  const { event, stream } = placed;
  const person = (name: string | null) => (name === null ? undefined : personIn(stream, name));
  const actorPerson = person(event.actorOwner);
  const isSame = event.contentOwner === event.actorOwner;
  return { ...placed, actorPerson, contentPerson: isSame ? actorPerson : person(event.contentOwner) };
}

const personIn = ({ tenant, app, indexKey }: KnownStream, name: string): Person => ({
  tenant,
  app,
  ref: refOf(indexKey, 'person', name),
});

/**
 * Numbers an event, encrypts its parts and hashes its record.
 * @param head the end of its stream so far; the new end is in the result
 * @param salt 16 random bytes
 * @param now milliseconds since 1970; an event is never recorded before its predecessor
 */
export function chained(
  { actorPerson, contentPerson, ...placed }: Owned,
  head: Head,
  keys: PersonKeys,
  salt: Buffer,
  now: number,
): { event: ChainedEvent; head: Head } {
  const { event, stream } = placed;
  const { resource_id } = event.value;
  const resourceRef = resource_id === null ? null : refOf(stream.indexKey, 'resource', resource_id);
  const keyOf = (person: Person | undefined) => person && keys.get(personOf(person));
  const proof = resourceRef === null ? null : resourceProof(keyOf(contentPerson), salt, resourceRef);
  const part = (name: PartName, of: Person | undefined, proof: Buffer | null) =>
    storedPart(event[name], { part: name, eventId: event.id, salt }, keyOf(of), proof);
  const actor = part('actor', actorPerson, null);
  const content = part('content', contentPerson, proof);
  const at = Date.parse(head.head_at);
  const record = recordOf(placed, {
    sequence: head.head_seq + 1,
    prev_hash: head.head_hash.toString('hex'),
    recorded_at: new Date(Number.isNaN(at) ? now : Math.max(at, now)).toISOString(),
    salt: salt.toString('base64url'),
    actor: partDigest(actor.bytes),
    actor_key: actor.commitment?.toString('hex') ?? null,
    content: partDigest(content.bytes),
    content_key: content.commitment?.toString('hex') ?? null,
  });
  const hash = recordHash(record);
  return {
    event: {
      ...placed,
      record,
      hash,
      salt,
      actor,
      content,
      actorRef: refBytes(actorPerson),
      subjectRef: refBytes(contentPerson),
      resourceRef,
      resourceProof: proof,
    },
    head: { id: head.id, head_seq: record.sequence, head_hash: hash, head_at: record.recorded_at },
  };
}

const refBytes = (person: Person | undefined): Buffer | null =>
  person === undefined ? null : Buffer.from(person.ref);

type Computed = Pick<
  ChainRecord,
  'sequence' | 'prev_hash' | 'recorded_at' | 'salt' | 'actor' | 'actor_key' | 'content' | 'content_key'
>;

function recordOf({ event, stream }: Placed, computed: Computed): ChainRecord {
  const { action, actor_type, category, outcome, resource, severity, timestamp } = event.value;
  return {
    ...computed,
    action,
    actor_type,
    app_id: event.app,
    category,
    id: event.id,
    outcome,
    recorded_by: event.recordedBy,
    resource,
    severity,
    source: event.source,
    stream_id: stream.id,
    tenant_id: event.tenant,
    timestamp,
    v: 2,
  };
}
