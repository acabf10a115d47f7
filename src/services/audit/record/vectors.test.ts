/** The published vectors of the record format, and that the code writes it as RFC 8785 says. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainRecord } from '../../../../generated/audit/types.ts';
import { canonicalJson } from './canonical.ts';
import { MacKey } from './mac-key.ts';
import { openPart, partJson, type StoredPart } from './parts.ts';
import { PersonKey } from './person-key.ts';
import { partDigest, recordHash, recordText } from './record.ts';
import { RunDigest } from './runs.ts';
import { firstPart } from './testing.ts';

const bytes = (from: number, count: number) =>
  Buffer.from(Array.from({ length: count }, (_, at) => from + at));
const hex = (value: Buffer | null) => value?.toString('hex') ?? null;

/** Nobody acts and nobody is concerned: salt 00..0f. */
const first = (() => {
  const place = { eventId: 'audit_01kfd8cst0f4ebfc0tywvtbr3d', salt: bytes(0, 16) };
  const actor = partJson({ ip: null, user_agent: null, user_id: null });
  const content = partJson({
    metadata: { key: 'smtp.host' },
    reason: null,
    resource_id: 'smtp',
    subject_id: null,
  });
  return {
    ...place,
    actor: firstPart(actor, { part: 'actor', ...place }, undefined),
    content: firstPart(content, { part: 'content', ...place }, undefined),
  };
})();

/** A person, whose key has the bytes 00..1f, changes himself: salt 10..1f. */
const personKey = new MacKey(bytes(0, 32));
const ref = bytes(64, 16);
const person = new PersonKey(personKey, ref);
const binding = { v: 1, proof: null };
const second = (() => {
  const place = { eventId: 'audit_01kfd8cv8we35scattsb99acg4', salt: bytes(16, 16) };
  const actor = partJson({
    ip: '203.0.113.7',
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0)',
    user_id: 'usr_42',
  });
  const content = partJson({
    metadata: { fields: ['email'] },
    reason: null,
    resource_id: 'usr_42',
    subject_id: 'usr_42',
  });
  return {
    ...place,
    actor: firstPart(actor, { part: 'actor', ...place }, personKey),
    content: firstPart(content, { part: 'content', ...place }, personKey),
  };
})();

const shared = {
  app_id: 'default',
  source: null,
  stream_id: 'stream_01kekj4hm0ert8n4a7s1m7h4cv',
  tenant_id: 'acme',
  v: 1,
} as const;

const partsOf = ({ actor, content, salt }: { actor: StoredPart; content: StoredPart; salt: Buffer }) => ({
  actor: partDigest(actor.bytes),
  actor_key: hex(actor.commitment),
  content: partDigest(content.bytes),
  content_key: hex(content.commitment),
  salt: salt.toString('base64url'),
});

const records: readonly ChainRecord[] = [
  {
    ...{ ...shared, ...partsOf(first), id: first.eventId, sequence: 1, prev_hash: '0'.repeat(64) },
    ...{ action: 'setting.updated', resource: 'setting', category: 'config' },
    ...{ outcome: 'success', severity: 'info', actor_type: 'system', recorded_by: 'root:root' },
    ...{ recorded_at: '2026-01-20T08:30:00.004Z', timestamp: '2026-01-20T08:30:00.000Z' },
  },
  {
    ...{ ...shared, ...partsOf(second), id: second.eventId, sequence: 2 },
    prev_hash: '72e4685c576f28eee7dc1c76c94496704303e91260ec4b58654a3b5c6797baaf',
    ...{ action: 'user.updated', resource: 'user', category: 'data' },
    ...{ outcome: 'failure', severity: 'warning', actor_type: 'user' },
    recorded_by: 'key:key_01kekj4hm0fq6a4w3t7ynz0r5d',
    ...{ recorded_at: '2026-01-20T08:30:01.512Z', timestamp: '2026-01-20T08:30:01.500Z' },
  },
];
const [one, two] = records as [ChainRecord, ChainRecord];

describe('vector 1', () => {
  it('has parts that belong to nobody and are not encrypted', () => {
    expect(first.actor.bytes.toString()).toBe('\0{"ip":null,"user_agent":null,"user_id":null}');
    expect(first.content.bytes.toString()).toBe(
      '\0{"metadata":{"key":"smtp.host"},"reason":null,"resource_id":"smtp","subject_id":null}',
    );
    expect(one).toMatchObject({ actor_key: null, content_key: null });
  });

  it('has this canonical text and this hash', () => {
    expect(recordText(one)).toBe(
      `{"action":"setting.updated","actor":"${one.actor}","actor_key":null,"actor_type":"system","app_id":"default","category":"config",` +
        '"content":"d8b47ed48d6ac11b114f04b6ee406af6e571297cdad5978f51e9906e7c97d25f","content_key":null,' +
        '"id":"audit_01kfd8cst0f4ebfc0tywvtbr3d","outcome":"success","prev_hash":"' +
        `${'0'.repeat(64)}","recorded_at":"2026-01-20T08:30:00.004Z","recorded_by":"root:root",` +
        '"resource":"setting","salt":"AAECAwQFBgcICQoLDA0ODw","sequence":1,"severity":"info","source":null,' +
        '"stream_id":"stream_01kekj4hm0ert8n4a7s1m7h4cv","tenant_id":"acme","timestamp":"2026-01-20T08:30:00.000Z","v":1}',
    );
    expect(hex(recordHash(one))).toBe(two.prev_hash);
  });
});

describe('vector 2', () => {
  it('has encrypted parts with commitments to their keys', () => {
    expect(two).toMatchObject({
      actor: 'c22a65700bf11451ed0a12fd93393d46585ef950f8a2b21ba69f416c136f80a1',
      actor_key: '338f97830379a0680022d50e4c3ae158cc547801503c73ed1acc8fcc5a68c52b',
      content: 'd4a0f0dfae6a089af7449e79fdcbd5fc215a444696aabce61b9c150262b39697',
      content_key: '9685bd33e5454fde48930a0f8f278cb38286808c02899fb8ce35f66286845eff',
    });
    expect(hex(recordHash(two))).toBe('daa7d24660027a69d5574936e3c760fe0b3bc796bd4dcdc2242b2a2135cae8ce');
  });

  it('opens with the key of the person and with no other', () => {
    const place = { part: 'actor', eventId: second.eventId, salt: second.salt } as const;
    expect(openPart(second.actor, place, person, binding)).toMatchObject({ user_id: 'usr_42' });
    expect(
      openPart(second.actor, place, new PersonKey(new MacKey(bytes(1, 32)), ref), binding),
    ).toBeUndefined();
    expect(openPart(second.actor, place, undefined, binding)).toBeUndefined();
    expect(openPart(second.actor, { ...place, part: 'content' }, person, binding)).toBeUndefined();
  });

  it('does not open when a byte was changed', () => {
    const place = { part: 'content', eventId: second.eventId, salt: second.salt } as const;
    const changed = Buffer.from(second.content.bytes);
    changed[10]! ^= 1;
    expect(() => openPart({ ...second.content, bytes: changed }, place, person, binding)).toThrow();
  });
});

it('the digest of a run that purged both covers their numbers and hashes', () => {
  const digest = new RunDigest();
  const expected = createHash('sha256');
  records.forEach((record) => {
    digest.add(record.sequence, recordHash(record));
    expected.update(Buffer.from(record.sequence.toString(16).padStart(16, '0'), 'hex'));
    expected.update(recordHash(record));
  });
  const text = digest.text();
  expect(text).toBe(expected.digest('hex'));
  expect(text).toBe('f766f5a1f335cad82cb71544659ac117ee988450005ae2861145809e6628fb09');
  expect([digest.count, digest.first, digest.last]).toEqual([2, 1, 2]);
});

it('the text of a record is its canonical JSON, whatever its members are', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 });
  const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
  const made = fc.record({
    ...{
      action: text,
      actor: hash,
      actor_key: fc.option(hash),
      actor_type: text,
      app_id: text,
      category: text,
    },
    ...{ content: hash, content_key: fc.option(hash), prev_hash: hash, recorded_by: text, resource: text },
    ...{
      sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      source: fc.option(text),
      tenant_id: text,
    },
  });
  fc.assert(
    fc.property(made, (members) => {
      const record = { ...one, ...members };
      expect(recordText(record)).toBe(canonicalJson(record));
    }),
  );
});

it('the text of a part is its canonical JSON, whatever its members are', () => {
  const text = fc.option(fc.string({ unit: 'grapheme', maxLength: 40 }));
  const part = fc.oneof(
    fc.record({ ip: text, user_agent: text, user_id: text }),
    fc.record({
      metadata: fc.dictionary(fc.string(), text),
      reason: text,
      resource_id: text,
      subject_id: text,
    }),
  );
  fc.assert(
    fc.property(part, (value) => {
      expect(partJson(value).toString()).toBe(canonicalJson(value));
    }),
  );
  expect(() => partJson({ ip: null, user_agent: 'a\ud800', user_id: null })).toThrow('lone surrogate');
});

describe('canonical JSON', () => {
  it('is as in the example of RFC 8785', () => {
    const value = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"\/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it.each([
    [-0, '0'],
    [1e21, '1e+21'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [0.000001, '0.000001'],
    [1e-7, '1e-7'],
  ])('writes the number %d as %s', (number, text) => expect(canonicalJson(number)).toBe(text));

  it('sorts members by their UTF-16 code units', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, 1: 4, '\ud83d\ude00': 5, '\u0080': 6, ö: 7 };
    expect(Object.values(JSON.parse(canonicalJson(Object.entries(value))) as object)).toHaveLength(7);
    expect(canonicalJson(value).match(/\d(?=[,}])/g)).toEqual(['2', '4', '6', '7', '1', '5', '3']);
  });

  it('keeps a member called __proto__', () =>
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}'));

  it.each(['\ud800', 'a\udc00b'])('does not exist for the lone surrogate in %j', (text) =>
    expect(() => canonicalJson({ text })).toThrow(),
  );
});
