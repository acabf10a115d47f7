import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Archive, EnforceResult, StoredRecord } from '../../../../generated/audit/types.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { type TestRequest, testServer, type TestServer } from '../../../testing/server.ts';
import { day, inTenant, tools } from '../testing.ts';
import { archiveFiles } from './archive-files.ts';
import { draftSweep } from './archiving.ts';

let folder: string;
let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  // The sweep that enforces policies would come before the test.
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_JOBS_ENGINE: 'off' } });
  folder = server.db.options.dataDir;
  api = tools(server);
});
afterAll(() => server.close());

let tenants = 0;
let own: TestRequest;
beforeEach(async () => {
  own = inTenant(`archives-${(tenants += 1)}`);
  await api.batch(
    Array.from({ length: 5 }, (_, at) => ({ timestamp: day(60 + at), user_id: 'anna', metadata: { at } })),
    own,
  );
  await api.send('POST', '/retention', {
    ...own,
    body: { category: 'data', duration: '720h', archive: true },
  });
});

const enforce = (): Promise<EnforceResult> => api.send('POST', '/retention/enforce', own);
const archives = (): Promise<Archive[]> => api.send('GET', '/retention/archives', own);
const files = async (): Promise<string[]> => {
  const all = await readdir(join(folder, 'audit-archives'), { recursive: true });
  return all.filter((name) => name.includes(own.headers!['X-Tenant-ID']!) && /\.(gz|draft)$/.test(name));
};

/** The lines of an archive, each checked by its hash. */
async function linesOf({ id, sha256, size_bytes }: Archive): Promise<StoredRecord[]> {
  const response = await fetch(`${server.url}/audit/v1/retention/archives/${id}/content`, {
    headers: { ...own.headers, authorization: `Bearer ${server.rootToken}` },
  });
  expect(response.headers.get('content-type')).toBe('application/gzip');
  const bytes = Buffer.from(await response.arrayBuffer());
  expect([createHash('sha256').update(bytes).digest('hex'), bytes.length]).toEqual([sha256, size_bytes]);
  const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as StoredRecord);
}

function checkHash({ record, hash, actor, content }: StoredRecord): void {
  const digest = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
  const sorted = Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  expect(digest(`\0${JSON.stringify(sorted)}`)).toBe(hash);
  expect(digest(Buffer.from(actor, 'base64'))).toBe(record.actor);
  expect(digest(Buffer.from(content, 'base64'))).toBe(record.content);
}

it('what is purged is archived first, as it was stored', async () => {
  expect(await enforce()).toEqual({ archived: 5, purged: 5, retained: 0, complete: true });
  const [archive, ...others] = await archives();
  expect(others).toEqual([]);
  expect(archive).toMatchObject({
    ...{ category: 'data', event_count: 5, first_sequence: 1, last_sequence: 5, sink_name: 'file' },
    ...{ from_timestamp: day(64), to_timestamp: day(60) },
  });
  const lines = await linesOf(archive!);
  lines.forEach(checkHash);
  expect(lines.map(({ record }) => record.sequence)).toEqual([1, 2, 3, 4, 5]);
  lines.slice(1).forEach(({ record }, at) => expect(record.prev_hash).toBe(lines[at]!.hash));
  expect((await files()).map((name) => name.split('/').at(-1))).toEqual([
    archive!.sink_ref.split('/').at(-1),
  ]);
  expect(await api.verify({}, own)).toMatchObject({ valid: true, purged: 5 });
  // Whoever is erased afterwards is erased there too: the archive has what is encrypted.
  const [act] = (await api.list('?action=retention.purged', own)).events;
  expect(act!.metadata).toMatchObject({ archive_id: archive!.id });
  expect(JSON.stringify(lines)).not.toContain('anna');
});

it('nothing is purged while the archive cannot be written, and all of it afterwards', async () => {
  const [path, away] = [join(folder, 'audit-archives'), join(folder, 'away')];
  if (existsSync(path)) await rename(path, away);
  await writeFile(path, 'not a folder');
  expect(await enforce()).toEqual({ archived: 0, purged: 0, retained: 5, complete: true });
  expect((await api.list('?category=data', own)).total).toBe(5);
  expect(await archives()).toEqual([]);
  await rm(path);
  if (existsSync(away)) await rename(away, path);
  expect(await enforce()).toEqual({ archived: 5, purged: 5, retained: 0, complete: true });
  (await linesOf((await archives())[0]!)).forEach(checkHash);
});

it('a crash between the archive and the purge loses nothing and archives nothing under two names', async () => {
  await server.db.transaction((sql) =>
    sql.unsafe(`
      create function audit.crash() returns trigger language plpgsql as $$ begin raise exception 'crashed'; end $$;
      create trigger crash before insert on audit.archives for each row execute function audit.crash()`),
  );
  expect(await enforce()).toMatchObject({ archived: 0, purged: 0, retained: 5 });
  const [left] = await files();
  expect((await api.list('?category=data', own)).total).toBe(5);
  await server.db.transaction((sql) =>
    sql.unsafe('drop trigger crash on audit.archives; drop function audit.crash'),
  );
  expect(await enforce()).toMatchObject({ archived: 5, purged: 5 });
  expect(await files()).toEqual([left]);
  const all = await archives();
  expect(all.map(({ sink_ref }) => sink_ref.split('/').at(-1))).toEqual([left!.split('/').at(-1)]);
  expect(await api.verify({}, own)).toMatchObject({ valid: true });
});

const sweep = () => runSweep(draftSweep({ db: server.db }, archiveFiles(join(folder, 'audit-archives'))));
const anHourLater = () =>
  server.db.sql`update audit.archive_drafts set created_at = created_at - interval '61 minutes'`;

describe('an archive that was interrupted', () => {
  const trigger = (name: string, event: string, body: string) =>
    server.db.transaction((sql) =>
      sql.unsafe(`
        create function audit.${name}() returns trigger language plpgsql as $$ begin ${body} end $$;
        create trigger ${name} ${event} for each row execute function audit.${name}()`),
    );
  const undo = (name: string) =>
    server.db.transaction((sql) => sql.unsafe(`drop function audit.${name}() cascade`));

  it('leaves no file when others are archived with its events afterwards', async () => {
    await trigger('crash', 'before insert on audit.archives', "raise exception 'crashed';");
    await enforce();
    const [orphan] = await files();
    const draft = join(
      folder,
      'audit-archives',
      orphan!.replace(/-[0-9a-f]{8}\.ndjson\.gz$/, '.0123456789ab.draft'),
    );
    await writeFile(draft, 'written by halves');
    await undo('crash');
    await api.batch([{ timestamp: day(70) }], own);
    expect(await enforce()).toMatchObject({ archived: 6, purged: 6 });
    await sweep();
    expect(await files()).toHaveLength(3);
    await anHourLater();
    await sweep();
    const [archive, ...others] = await archives();
    expect(others).toEqual([]);
    expect(await files()).toEqual([archive!.sink_ref]);
    (await linesOf(archive!)).forEach(checkHash);
  });

  it('keeps its file when the same events are archived under the same name', async () => {
    await trigger('crash', 'before insert on audit.archives', "raise exception 'crashed';");
    await enforce();
    await undo('crash');
    await enforce();
    await anHourLater();
    await sweep();
    expect(await files()).toEqual([(await archives())[0]!.sink_ref]);
    expect(await server.db.sql`select from audit.archive_drafts`).toHaveLength(0);
  });

  it('purges nothing once it was given up', async () => {
    await trigger('given_up', 'before insert on audit.archive_drafts', 'new.given_up = true; return new;');
    expect(await enforce()).toMatchObject({ archived: 0, purged: 0, retained: 5 });
    await undo('given_up');
    expect(await enforce()).toMatchObject({ archived: 5, purged: 5 });
  });
});

it('two enforcers at once archive once', async () => {
  const results = await Promise.all([enforce(), enforce()]);
  expect(results.reduce((sum, { archived }) => sum + archived, 0)).toBe(5);
  const all = await archives();
  expect(all).toHaveLength(1);
  // The one that was too late may have written a file, too, of what was left of the events.
  await anHourLater();
  await sweep();
  expect(await files()).toEqual([all[0]!.sink_ref]);
});

it('the content of a file that is gone is not found, like that of another tenant', async () => {
  await enforce();
  const [archive] = await archives();
  const path = `/retention/archives/${archive!.id}/content`;
  expect(await api.refusal('GET', path, inTenant('other'))).toEqual([404, 'audit: archive not found']);
  await rm(join(folder, 'audit-archives', archive!.sink_ref));
  expect(await api.refusal('GET', path, own)).toEqual([404, 'audit: archive not found']);
});
