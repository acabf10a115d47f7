import { LRUCache } from 'lru-cache';
import { inSlices } from '../../../lib/slices.ts';
import type { Deps } from '../deps.ts';
import { type Coverage, coverageOf, type LackingRow } from '../events/coverage.ts';
import { openedPersonKey } from '../keys/persons.ts';
import { personStore, type SealedPersonKey } from '../keys/persons.store.ts';
import { UnreadableKey } from '../keys/sealed-keys.ts';
import { commitmentTo, isOf, type PartName, resourceProof } from '../record/parts.ts';
import type { PersonKey } from '../record/person-key.ts';
import { Sequences } from './chain-check.ts';
import type { LinkRow } from './verification.store.ts';
import type { VerifiedStream } from './verifier.ts';

type CheckDeps = Pick<Deps, 'db' | 'sealer'>;

/** The persons whose keys are kept at hand during a verification. */
const mostPersons = 10_000;

/**
 * Checks that each part of a stream can be read, or that an erasure of the chain says why not, and that events are found by the persons and
 * resources that they name. What is hashed fixes all of that, but it stands in columns and rows that are not hashed themselves.
 */
export class PartCheck {
  readonly unreadable = new Sequences();
  erased = 0;
  readonly #deps: CheckDeps;
  readonly #stream: VerifiedStream;
  readonly #persons = new LRUCache<string, PersonKey>({ max: mostPersons });
  /** Events of version 1, in which only a mark names the erasure, by the event that tells of it. */
  readonly #marked = new Map<string, { count: number; readonly most: number }>();

  constructor(deps: CheckDeps, stream: VerifiedStream) {
    [this.#deps, this.#stream] = [deps, stream];
  }

  /** Returns the numbers of events that are found by what they do not name. */
  async add(rows: readonly LinkRow[]): Promise<number[]> {
    const kept = rows.filter((row) => row.run_id === null && !this.#isPlain(row)).map(keptRow);
    const persons = await this.#personsOf(kept);
    const misleading: number[] = [];
    const lacking: { readonly row: KeptRow; readonly parts: readonly PartName[] }[] = [];
    await inSlices(kept, (row) => {
      const parts = partNames.filter((part) => row.isEncrypted[part] && !isReadable(row, part, persons));
      if (parts.length > 0) lacking.push({ row, parts });
      if (row.app_id !== this.#stream.app || isMisleading(row, parts, persons)) misleading.push(row.sequence);
    });
    const coverage = await coverageOf(
      this.#deps.db.sql,
      lacking.map(({ row }) => row),
    );
    for (const { row, parts } of lacking) this.#judge(row, parts, coverage);
    return misleading;
  }

  /** Whether an event belongs to nobody and is found by nothing, so that nothing of it can be unreadable or misleading. */
  #isPlain(row: LinkRow): boolean {
    return (
      row.app_id === this.#stream.app &&
      !row.is_actor_encrypted &&
      !row.is_content_encrypted &&
      [row.actor_ref, row.subject_ref, row.resource_ref, row.resource_proof].every((ref) => ref === null) &&
      (row.v === 1 || row.content_key === null)
    );
  }

  /** What cannot be said of single events. */
  remarks(): string[] {
    return [...this.#marked]
      .filter(([, { count, most }]) => count > most)
      .map(([id, { count, most }]) => `${count} events are marked as erased by ${id}, which erased ${most}`);
  }

  #judge(row: KeptRow, parts: readonly PartName[], coverage: Coverage): void {
    const coverings = parts.map((part) => coverage(row, part));
    if (coverings.includes(undefined)) this.unreadable.add(row.sequence);
    const told = coverings.flatMap((one) => (one === undefined || one === 'purged' ? [] : [one]));
    if (told.length > 0) this.erased += 1;
    if (row.v > 1) return;
    for (const { erasure_id, events_affected } of new Map(
      told.map((one) => [one.erasure_id, one]),
    ).values()) {
      const marked = this.#marked.get(erasure_id) ?? { count: 0, most: events_affected };
      marked.count += 1;
      this.#marked.set(erasure_id, marked);
    }
  }

  /** The persons by whose references events are found. A key that cannot be opened is as good as none. */
  async #personsOf(rows: readonly KeptRow[]): Promise<Persons> {
    const refs = new Map(
      rows
        .flatMap(({ refs }) => Object.values(refs))
        .flatMap((ref) => (ref === null ? [] : [[nameOf(ref), ref]])),
    );
    const unknown = [...refs].filter(([name]) => !this.#persons.has(name)).map(([, ref]) => ref);
    const { tenant, app } = this.#stream;
    const sealed =
      unknown.length === 0 ? [] : await personStore(this.#deps.db.sql).some(tenant, app, unknown);
    // Those of this page are held besides: there may be more of them than are kept at hand.
    const opened = new Map<string, PersonKey>();
    for (const name of refs.keys()) {
      const known = this.#persons.get(name);
      if (known !== undefined) opened.set(name, known);
    }
    for (const key of sealed) {
      const person = this.#opened(key);
      if (person === undefined) continue;
      opened.set(nameOf(key.ref), person);
      this.#persons.set(nameOf(key.ref), person);
    }
    return (ref) => (ref === null ? undefined : opened.get(nameOf(ref)));
  }

  #opened(key: SealedPersonKey): PersonKey | undefined {
    try {
      return openedPersonKey(this.#deps.sealer, key);
    } catch (error) {
      if (error instanceof UnreadableKey) return undefined;
      throw error;
    }
  }
}

/** A row that was not purged, with its bytes. */
interface KeptRow extends LackingRow {
  readonly id: string;
  readonly app_id: string;
  readonly isEncrypted: Readonly<Record<PartName, boolean>>;
  /** By what the person is found to whom each part belongs. */
  readonly refs: Readonly<Record<PartName, Buffer | null>>;
  readonly resource_ref: Buffer | null;
}

type Persons = (ref: Buffer | null) => PersonKey | undefined;

const partNames: readonly PartName[] = ['actor', 'content'];

const keptRow = (row: LinkRow): KeptRow => ({
  tenant_id: row.tenant_id,
  stream_id: row.stream_id,
  sequence: row.sequence,
  id: row.id,
  app_id: row.app_id,
  v: row.v,
  salt: Buffer.from(row.salt ?? '', 'base64'),
  actor_key: bytesOf(row.actor_key),
  content_key: bytesOf(row.content_key),
  isEncrypted: { actor: row.is_actor_encrypted, content: row.is_content_encrypted },
  refs: { actor: row.actor_ref, content: row.subject_ref },
  resource_ref: row.resource_ref,
  resource_proof: row.resource_proof,
});

function isReadable(row: KeptRow, part: PartName, persons: Persons): boolean {
  const person = persons(row.refs[part]);
  const binding = { v: row.v, proof: part === 'content' ? row.resource_proof : null };
  return (
    person !== undefined &&
    isOf(person, { commitment: row[`${part}_key`] }, { part, eventId: row.id, salt: row.salt }, binding)
  );
}

/** Whether an event that can be read is found by a person or a resource that it does not name, or not by the one that it names. */
function isMisleading(row: KeptRow, lacking: readonly PartName[], persons: Persons): boolean {
  if (partNames.some((part) => !row.isEncrypted[part] && row.refs[part] !== null)) return true;
  if (row.v === 1 || lacking.includes('content')) return false;
  const { resource_ref, resource_proof, salt, isEncrypted } = row;
  const person = isEncrypted.content ? persons(row.refs.content) : undefined;
  const proof = resource_ref === null ? null : resourceProof(person, salt, resource_ref);
  if (!isSame(proof, resource_proof)) return true;
  return (
    !isEncrypted.content &&
    !isSame(commitmentTo(undefined, { part: 'content', salt }, proof), row.content_key)
  );
}

const isSame = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other);

const bytesOf = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, 'hex'));
const nameOf = (ref: Buffer): string => ref.toString('latin1');
