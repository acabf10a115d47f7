import type { Deps } from '../deps.ts';
import { ownCategory } from '../append/new-event.ts';
import { type PersonKeys, personOf, readKeys } from '../keys/persons.ts';
import { refOf, type RefKind } from '../keys/refs.ts';
import { type ActorPart, type ContentPart, openPart, type PartName } from '../record/parts.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { type LinkRow, type PartsRow, verificationStore } from './verification.store.ts';

/**
 * The sequences of the rows whose parts cannot be read although nobody erased them, or which are found under another person or resource
 * than their parts name: by what an event is found is not hashed.
 */
export async function partFaults(
  { db, sealer }: Pick<Deps, 'db' | 'sealer'>,
  stream: KnownStream,
  links: readonly LinkRow[],
): Promise<number[]> {
  const erased = new Set(links.filter(({ is_erased }) => is_erased).map(({ sequence }) => sequence));
  const rows = await verificationStore(db.sql).parts(
    stream,
    links.map(({ sequence }) => sequence),
  );
  const persons = rows.flatMap(({ actor_ref, subject_ref }) =>
    [actor_ref, subject_ref].flatMap((ref) => (ref === null ? [] : [{ ...stream, ref }])),
  );
  const keys = await readKeys(db.sql, sealer, persons);
  return rows
    .filter((row) => isFaulty(row, stream, keys, erased.has(row.sequence)))
    .map(({ sequence }) => sequence);
}

function isFaulty(row: PartsRow, stream: KnownStream, keys: PersonKeys, isErased: boolean): boolean {
  try {
    const actor = opened<ActorPart>(row, 'actor', keyOf(stream, keys, row.actor_ref));
    const content = opened<ContentPart>(row, 'content', keyOf(stream, keys, row.subject_ref));
    if (isErased) return false;
    if (actor === undefined || content === undefined) return true;
    const isFound = (kind: RefKind, name: string | null, ref: Buffer | null) =>
      name === null ? ref === null : ref?.equals(refOf(stream.indexKey, kind, name)) === true;
    const owner = row.category === ownCategory ? null : (content.subject_id ?? actor.user_id);
    return !(
      isFound('person', actor.user_id, row.actor_ref) &&
      isFound('person', owner, row.subject_ref) &&
      isFound('resource', content.resource_id, row.resource_ref)
    );
  } catch {
    return true;
  }
}

const keyOf = (stream: KnownStream, keys: PersonKeys, ref: Buffer | null) =>
  ref === null ? undefined : keys.get(personOf({ ...stream, ref }));

const opened = <Part extends ActorPart | ContentPart>(
  row: PartsRow,
  part: PartName,
  key: Buffer | undefined,
) =>
  openPart<Part>(
    { bytes: row[part], commitment: row[`${part}_key`] },
    { part, eventId: row.id, salt: row.salt },
    key,
  );
