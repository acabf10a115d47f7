/** The offline verifier: it accepts what a real server exports, and names what was changed in a copy. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childServer, type ChildServer } from '../src/testing/child-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const vectors = JSON.parse(
  await readFile(join(root, 'src/services/audit/record/vectors.json'), 'utf8'),
) as Record<'export' | 'export_after_purge', Line[]>;

interface Line {
  sequence: number;
  hash: string;
  record: Record<string, unknown> | null;
  actor: string | null;
  content: string | null;
  run_id: string | null;
}

let data: string;
let server: ChildServer;
/** What the server exports: two purged events, events of persons of whom one is erased, and what the service itself did. */
let exported: Line[];

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'plinth-audit-'));
  server = await childServer({ services: ['audit', 'keys'], env: { PLINTH_DATA_DIR: data } });
  const send = async (method: string, path: string, body?: object) => {
    const answer = await server.request(method, `/audit/v1${path}`, { body });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  const event = { action: 'user.updated', resource: 'user', category: 'data' };
  const events = [
    { ...event, category: 'old', timestamp: '2026-01-01T00:00:00Z' },
    { ...event, user_id: 'usr_1', ip: '203.0.113.7', metadata: { 'é\u2028': [1e21, -0, '😀'] } },
    { ...event, category: 'old', timestamp: '2026-01-02T00:00:00Z', user_id: 'usr_1' },
    { ...event, user_id: 'usr_2', subject_id: 'tenant:acme', reason: '"quoted"' },
    { ...event, user_id: 'usr_3', subject_id: 'usr_1', outcome: 'denied' },
  ];
  await send('POST', '/events/batch', { events });
  await send('POST', '/erasures', { subject_id: 'usr_1', reason: 'asked', requested_by: 'dpo' });
  await send('POST', '/retention', { category: 'old', duration: '1h' });
  expect((await send('POST', '/retention/enforce')).body).toMatchObject({ purged: 2 });
  const [stream] = (await send('GET', '/streams')).body as [{ id: string }];
  const { text } = await send('GET', `/streams/${stream.id}/export`);
  exported = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}, 60_000);
afterAll(async () => {
  await server.kill();
  await rm(data, { recursive: true });
});

/** Runs the verifier on lines, and returns what it prints. */
async function verified(lines: readonly Line[], ...notes: string[]): Promise<string[]> {
  const file = join(data, 'export.ndjson');
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(root, 'examples/verify-audit.ts'), file, ...notes],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  const printed = stdout.trimEnd().split('\n');
  expect(status).toBe(printed.length === 1 ? 0 : 1);
  return printed;
}

/** A copy in which one line is changed. */
const changed = (at: number, change: (line: Line) => Partial<Line>): Line[] =>
  exported.map((line, index) => (index === at ? { ...line, ...change(line) } : line));
const inRecord = (at: number, members: object) =>
  changed(at, ({ record }) => ({ record: { ...record, ...members } }));
/** The bytes with one bit changed. */
function flipped(base64: string | null): string {
  const bytes = Buffer.from(base64!, 'base64');
  bytes[bytes.length - 1]! ^= 1;
  return bytes.toString('base64');
}

describe('the offline verifier', () => {
  it('reads nothing of the project', async () => {
    const program = await readFile(join(root, 'examples/verify-audit.ts'), 'utf8');
    const imports = [...program.matchAll(/from '([^']+)'/g)].map(([, name]) => name);
    expect(imports).toEqual(['node:crypto', 'node:fs']);
  });

  it('finds what a server exports intact, purged and erased events among it', async () => {
    const last = exported.at(-1)!;
    expect(exported.map(({ run_id }) => run_id !== null).slice(0, 4)).toEqual([true, false, true, false]);
    expect(await verified(exported, `${last.sequence}:${last.hash}`, `1:${exported[0]!.hash}`)).toEqual([
      `intact: 1 to ${last.sequence}, 2 purged, head ${last.hash}`,
    ]);
    expect(await verified(exported.slice(3))).toEqual([expect.stringMatching(/^intact: 4 to /)]);
  });

  it('finds the published vectors intact', async () => {
    for (const lines of [vectors.export, vectors.export_after_purge])
      expect(await verified(lines)).toEqual([expect.stringMatching(/^intact: 1 to /)]);
  });

  it('names an event of which any member was changed', async () => {
    const members = Object.entries(exported[1]!.record!);
    expect(members).toHaveLength(22);
    const copies = members.map(([name, value]) =>
      inRecord(1, { [name]: typeof value === 'number' ? 9 : 'x' }),
    );
    const others = [
      inRecord(1, { more: 1 }),
      inRecord(1, { source: undefined }),
      changed(1, ({ actor }) => ({ actor: flipped(actor) })),
      changed(1, ({ content }) => ({ content: flipped(content) })),
      changed(1, () => ({ hash: 'f'.repeat(64) })),
    ];
    const printed = await eachVerified([...copies, ...others]);
    for (const [first, second] of printed) {
      expect(first).toBe('2: was changed');
      expect(second).toMatch(/^NOT INTACT/);
    }
  });

  it('names what is missing, doubled, moved or forged', async () => {
    const [one, two, three, four, five, ...others] = exported as [Line, Line, Line, Line, Line, ...Line[]];
    const forged = changed(0, () => ({ hash: 'f'.repeat(64) }));
    const purgedTooMuch = changed(3, () => ({
      record: null,
      actor: null,
      content: null,
      run_id: one.run_id,
    }));
    const [gap, twice, swapped, tombstone, purged] = await eachVerified([
      [one, two, three, five, ...others],
      [one, two, two, three, four, five, ...others],
      [one, two, three, { ...five, sequence: 4 }, { ...four, sequence: 5 }, ...others],
      forged,
      purgedTooMuch,
    ]);
    expect(gap).toEqual(['4 to 4: missing', expect.any(String)]);
    expect(twice).toEqual(expect.arrayContaining(['2: is not in order']));
    expect(swapped!.slice(0, 2)).toEqual(['4: was changed', '5: was changed']);
    expect(tombstone).toContain(`${one.run_id!}: what it left is not what the chain tells`);
    expect(purged).toContain(`${one.run_id!}: what it left is not what the chain tells`);
  });

  it('knows by a hash noted earlier that the end was cut off, or that everything was written anew', async () => {
    const last = exported.at(-1)!;
    const note = `${last.sequence}:${last.hash}`;
    const missed = `${last.sequence}: does not have the hash ${last.hash}`;
    expect(await verified(exported.slice(0, -1), note)).toContain(missed);
    expect(await verified(vectors.export_after_purge, note)).toContain(missed);
  });
});

/** Runs the verifier on each, one after the other. */
async function eachVerified(copies: readonly (readonly Line[])[]): Promise<string[][]> {
  const printed: string[][] = [];
  for (const copy of copies) printed.push(await verified(copy));
  return printed;
}
