/** The published vectors, which another program computed. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ChainRecord } from '../../../../generated/audit/types.ts';
import { MacKey } from './mac-key.ts';
import { openPart, partJson, type PartName, resourceProof, storedPart } from './parts.ts';
import { PersonKey } from './person-key.ts';
import { partDigest, recordHash, recordText } from './record.ts';
import { RunDigest } from './runs.ts';
import { firstPart } from './testing.ts';

interface Part {
  json: string;
  key: string | null;
  stored: string;
  digest: string;
  commitment: string | null;
}
interface Vectors {
  person_keys: Record<string, string>;
  events: {
    name: string;
    event: Record<string, unknown> & { id: string };
    owners: Record<PartName, string | null>;
    salt: string;
    actor: Part;
    content: Part;
    canonical: string;
    hash: string;
  }[];
  runs: { sequences: number[]; digest: string }[];
  version_2: { index_key: string; events: Second[] };
}
interface SecondPart {
  ref: string | null;
  owner: string | null;
  commitment: string | null;
}
interface Second {
  name: string;
  event_id: string;
  salt: string;
  owners: Record<PartName, string | null>;
  resource_ref: string | null;
  proof: string | null;
  actor: SecondPart;
  content: SecondPart;
  canonical: string;
  hash: string;
}

const vectors = JSON.parse(await readFile(new URL('./vectors.json', import.meta.url), 'utf8')) as Vectors;

describe.each(vectors.events)(
  'the vector of an event that $name',
  ({ event, owners, salt, canonical, hash, ...parts }) => {
    const { ip, user_agent, user_id, metadata, reason, resource_id, subject_id } = event as never;
    const values = {
      actor: { ip, user_agent, user_id },
      content: { metadata, reason, resource_id, subject_id },
    };

    it.each(['actor', 'content'] as const)('has the %s part', (name) => {
      const { json, stored, digest, commitment } = parts[name];
      const place = { part: name, eventId: event.id, salt: Buffer.from(salt, 'hex') };
      const owner = owners[name];
      const key = owner === null ? undefined : new MacKey(Buffer.from(vectors.person_keys[owner]!, 'hex'));
      const person = key && new PersonKey(key, Buffer.alloc(16));
      const bytes = partJson(values[name]);
      expect(bytes.toString()).toBe(json);
      const part = firstPart(bytes, place, key);
      expect(part.bytes.toString('base64')).toBe(stored);
      expect(part.commitment?.toString('hex') ?? null).toBe(commitment);
      expect(partDigest(part.bytes)).toBe(digest);
      expect(JSON.stringify(openPart(part, place, person, { v: 1, proof: null }))).toBe(
        JSON.stringify(JSON.parse(json)),
      );
    });

    it('has the record and its hash', () => {
      const record = JSON.parse(canonical) as ChainRecord;
      expect(record).toMatchObject({ actor: parts.actor.digest, content_key: parts.content.commitment });
      expect(recordText(record)).toBe(canonical);
      expect(recordHash(record).toString('hex')).toBe(hash);
    });
  },
);

describe.each(vectors.version_2.events)('version 2 of an event that $name', (event) => {
  const { event_id, owners, proof, resource_ref, canonical, hash } = event;
  const salt = Buffer.from(event.salt, 'hex');
  const indexKey = new MacKey(Buffer.from(vectors.version_2.index_key, 'hex'));
  const person = (name: PartName) => {
    const owner = owners[name];
    if (owner === null) return undefined;
    const ref = indexKey.of(`person\0${owner}`).subarray(0, 16);
    expect(ref.toString('hex')).toBe(event[name].ref);
    return new PersonKey(new MacKey(Buffer.from(vectors.person_keys[owner]!, 'hex')), ref);
  };
  const proofOf = () =>
    resource_ref === null ? null : resourceProof(person('content'), salt, Buffer.from(resource_ref, 'hex'));

  it('has the proof of its resource', () => expect(proofOf()?.toString('hex') ?? null).toBe(proof));

  it.each(['actor', 'content'] as const)(
    'has a commitment for the %s part, which opens with its key only',
    (name) => {
      const { owner, commitment } = event[name];
      expect(person(name)?.owner.toString('hex') ?? null).toBe(owner);
      const binding = { v: 2, proof: name === 'content' ? proofOf() : null };
      const place = { part: name, eventId: event_id, salt };
      const json = Buffer.from('{"a":1}');
      const part = storedPart(json, place, person(name), binding.proof);
      expect(part.commitment?.toString('hex') ?? null).toBe(commitment);
      expect(openPart(part, place, person(name), binding)).toEqual({ a: 1 });
      if (owner === null) return;
      expect(openPart(part, place, undefined, binding)).toBeUndefined();
      const copied = new PersonKey(person(name)!.key, Buffer.alloc(16));
      expect(openPart(part, place, copied, binding)).toBeUndefined();
      expect(openPart(part, place, person(name), { v: 2, proof: Buffer.alloc(32) })).toBeUndefined();
    },
  );

  it('has the record and its hash', () => {
    const record = JSON.parse(canonical) as ChainRecord;
    expect(record).toMatchObject({
      v: 2,
      actor_key: event.actor.commitment,
      content_key: event.content.commitment,
    });
    expect(recordText(record)).toBe(canonical);
    expect(recordHash(record).toString('hex')).toBe(hash);
  });
});

it.each(vectors.runs)('the digest of a run that purged $sequences', ({ sequences, digest }) => {
  const run = new RunDigest();
  for (const sequence of sequences) run.add(sequence, Buffer.from(vectors.events[sequence - 1]!.hash, 'hex'));
  expect(run.text()).toBe(digest);
});
