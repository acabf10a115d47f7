/** The published vectors, which another program computed. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ChainRecord } from '../../../../generated/audit/types.ts';
import { MacKey } from './mac-key.ts';
import { openPart, partJson, storedPart, type PartName } from './parts.ts';
import { partDigest, recordHash, recordText } from './record.ts';
import { RunDigest } from './runs.ts';

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
      const bytes = partJson(values[name]);
      expect(bytes.toString()).toBe(json);
      const part = storedPart(bytes, place, key);
      expect(part.bytes.toString('base64')).toBe(stored);
      expect(part.commitment?.toString('hex') ?? null).toBe(commitment);
      expect(partDigest(part.bytes)).toBe(digest);
      expect(JSON.stringify(openPart(part, place, key))).toBe(JSON.stringify(JSON.parse(json)));
    });

    it('has the record and its hash', () => {
      const record = JSON.parse(canonical) as ChainRecord;
      expect(record).toMatchObject({ actor: parts.actor.digest, content_key: parts.content.commitment });
      expect(recordText(record)).toBe(canonical);
      expect(recordHash(record).toString('hex')).toBe(hash);
    });
  },
);

it.each(vectors.runs)('the digest of a run that purged $sequences', ({ sequences, digest }) => {
  const run = new RunDigest();
  for (const sequence of sequences) run.add(sequence, Buffer.from(vectors.events[sequence - 1]!.hash, 'hex'));
  expect(run.text()).toBe(digest);
});
