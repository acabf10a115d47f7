/** Tests what events may hold at the edges, and that whatever is accepted is read as it was stored. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../../generated/audit/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { anEvent, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

const own = inTenant('input');

/** Sends JSON as text, which can say what objects of JavaScript cannot. */
const post = (members: string) =>
  server.request('POST', '/audit/v1/events', {
    ...own,
    body: `{"action":"a","resource":"r","category":"c",${members}}`,
  });

/** Records an event and checks that it is read as it was answered, and that the chain is intact. */
async function recorded(members: string): Promise<AuditEvent> {
  const answer = await post(members);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  const event = answer.body as AuditEvent;
  const read = await server.request('GET', `/audit/v1/events/${event.id}`, own);
  expect(read.body).toEqual(event);
  expect(await api.verify({ from_seq: event.sequence }, own)).toMatchObject({ valid: true });
  return event;
}

describe('the time of an event', () => {
  it.each([
    ['2026-01-20T08:30:01.123456789Z', '2026-01-20T08:30:01.123Z'],
    ['2026-01-20T10:30:01+02:00', '2026-01-20T08:30:01.000Z'],
    ['2026-01-19T22:30:01.5-10:00', '2026-01-20T08:30:01.500Z'],
    ['2026-01-20t08:30:01z', '2026-01-20T08:30:01.000Z'],
    ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
    ['2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z'],
    ['1999-12-31T23:00:00-01:00', '2000-01-01T00:00:00.000Z'],
  ])('%s is %s', async (sent, timestamp) => {
    expect((await recorded(`"timestamp":"${sent}"`)).timestamp).toBe(timestamp);
  });

  it('may be five minutes ahead, but not six', async () => {
    const ahead = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    await recorded(`"timestamp":"${ahead(4)}"`);
    const refused = await post(`"timestamp":"${ahead(6)}"`);
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: 'audit: timestamp: must be from 2000-01-01 to 5 minutes ahead' },
    ]);
  });

  it.each([
    '"2026-06-15T23:59:60Z"',
    '"2016-12-31T23:59:60Z"',
    '"2026-02-30T00:00:00Z"',
    '"2026-01-20T24:00:00Z"',
    '"2026-01-20"',
    '"20 January 2026"',
    '"1999-12-31T23:59:59.999Z"',
    '1768897801',
    '""',
    '"9999-12-31T23:59:59Z"',
  ])('is not %s', async (sent) => {
    const answer = await post(`"timestamp":${sent}`);
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: expect.stringMatching(/^audit: timestamp: /) as string },
    ]);
  });
});

/** Objects in objects. */
const nested = (levels: number): string => (levels === 1 ? '{}' : `{"a":${nested(levels - 1)}}`);
const ofSize = (bytes: number) => `{"t":"${'x'.repeat(bytes - 8)}"}`;

describe('metadata', () => {
  it.each([
    ['{"n":-0}', '{"n":0}'],
    ['{"n":1e21}', '{"n":1e+21}'],
    ['{"n":1.0}', '{"n":1}'],
    ['{"n":1e308}', '{"n":1e+308}'],
    ['{"n":0.1}', '{"n":0.1}'],
    ['{"__proto__":{"admin":true},"constructor":1}', '{"__proto__":{"admin":true},"constructor":1}'],
    ['{"toJSON":"x","toString":null}', '{"toJSON":"x","toString":null}'],
    ['{"é":"\\u2028\\ud83d\\ude00","":[]}', '{"":[],"é":"\u2028😀"}'],
    ['{"b":1,"a":{"d":2,"c":3}}', '{"a":{"c":3,"d":2},"b":1}'],
    ['null', '{}'],
  ])('%s is read as %s', async (sent, read) => {
    const { id } = await recorded(`"metadata":${sent}`);
    const { text } = await server.request('GET', `/audit/v1/events/${id}`, own);
    expect(text).toContain(`"metadata":${read}`);
  });

  it('has at most eight levels and 32 KiB', async () => {
    await recorded(`"metadata":${nested(8)}`);
    expect((await post(`"metadata":${nested(9)}`)).body).toEqual({
      error: 'audit: metadata: must have at most 8 levels',
    });
    await recorded(`"metadata":${ofSize(32_768)}`);
    for (const size of [32_769, 33 * 1_024])
      expect((await post(`"metadata":${ofSize(size)}`)).body).toEqual({
        error: 'audit: metadata: is larger than 32768 bytes',
      });
  });

  it.each([
    '{"a":"\\ud800"}',
    '{"\\udc00":1}',
    '{"a":"\\u0000"}',
    '{"a\\u0000":1}',
    '[]',
    '"text"',
    '{"a":1e999}',
  ])('is not %s', async (sent) => {
    const answer = await post(`"metadata":${sent}`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(/"audit: /) as string]);
  });
});

describe('other members', () => {
  it.each<[object, string]>([
    [{ action: ' a' }, 'action'],
    [{ action: 'a ' }, 'action'],
    [{ action: 'x'.repeat(129) }, 'action'],
    [{ resource: 'a b' }, 'resource'],
    [{ category: 'x'.repeat(65) }, 'category'],
    [{ outcome: 'maybe' }, 'outcome'],
    [{ user_id: '' }, 'user_id'],
    [{ user_id: 'x'.repeat(256) }, 'user_id'],
    [{ user_id: 'a\0b' }, 'user_id'],
    [{ reason: '\ud800' }, 'reason'],
    [{ reason: 'x'.repeat(1_001) }, 'reason'],
    [{ resource_id: 'x'.repeat(513) }, 'resource_id'],
    [{ actor_type: 'User' }, 'actor_type'],
    [{ user_agent: 'x'.repeat(513) }, 'user_agent'],
    [{ idempotency_key: '' }, 'idempotency_key'],
    [{ ip: '1.2.3.4.5' }, 'ip'],
    [{ ip: 'x'.repeat(10_000_000) }, ''],
  ])('%#: are refused by name', async (members, name) => {
    const answer = await server.request('POST', '/audit/v1/events', {
      ...own,
      body: { ...anEvent, ...members },
    });
    expect([400, 413]).toContain(answer.status);
    expect((answer.body as { error: string }).error).toMatch(new RegExp(`^audit: ${name}`));
  });

  it.each(['0.0.0.0', '255.255.255.255', '::', '2001:DB8::A', '::ffff:10.0.0.1'])(
    'the address %s is kept',
    async (ip) => expect(await recorded(`"ip":"${ip}"`)).toMatchObject({ ip }),
  );

  it.each([{ id: 'audit_01kfd8cst0f4ebfc0tywvtbr3d' }, { sequence: 1 }, { hash: '0'.repeat(64) }])(
    'that only the server sets are refused: %j',
    async (members) => {
      const [name] = Object.keys(members);
      expect(await api.refusal('POST', '/events', { ...own, body: { ...anEvent, ...members } })).toEqual([
        400,
        `audit: ${name}: is set by the server, leave it out`,
      ]);
    },
  );
});
