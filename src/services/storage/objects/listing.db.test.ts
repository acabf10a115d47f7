import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectListing } from '../../../../generated/storage/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'] });
  api = tools(server);
});
afterAll(() => server.close());

/** Creates a bucket that holds these keys, without sending their content. */
async function bucketWith(name: string, keys: readonly string[]): Promise<void> {
  const { id } = await api.bucket(name);
  await server.db.sql`
    insert into storage.objects (tenant_id, bucket_id, key, size, etag, checksum, content_type)
    select 'default', ${id}, key, 0, '"x"', 'crc32c:00000000', 'text/plain' from unnest(${[...keys]}::text[]) as key`;
}

const byBytes = (one: string, other: string) => Buffer.from(one).compare(Buffer.from(other));

/** The rows that a listing has: keys, and prefixes in the place of the keys that they group. */
function expectedRows(keys: readonly string[], prefix: string, delimiter: string | undefined): string[] {
  const rows = keys
    .filter((key) => key.startsWith(prefix))
    .map((key) => {
      const cut = delimiter === undefined ? -1 : key.indexOf(delimiter, prefix.length);
      return cut < 0 ? `key ${key}` : `prefix ${key.slice(0, cut + delimiter!.length)}`;
    });
  const nameOf = (row: string) => row.slice(row.indexOf(' ') + 1);
  return [...new Set(rows)].sort((one, other) => byBytes(nameOf(one), nameOf(other)));
}

/** Walks all pages and returns their rows in order. */
async function walk(bucket: string, query: Record<string, string>, limit: number): Promise<string[]> {
  const rows: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const asked = new URLSearchParams({ ...query, limit: String(limit), ...(cursor !== '' && { cursor }) });
    const page = (await api.send('GET', `/buckets/${bucket}/objects?${asked}`)).body as ObjectListing;
    const found = [
      ...page.objects.map(({ key }) => `key ${key}`),
      ...page.prefixes.map((prefix) => `prefix ${prefix}`),
    ].sort((one, other) => byBytes(one.slice(one.indexOf(' ') + 1), other.slice(other.indexOf(' ') + 1)));
    expect(found.length).toBeLessThanOrEqual(limit);
    expect(page.truncated).toBe(page.cursor !== null);
    rows.push(...found);
    cursor = page.cursor;
  }
  return rows;
}

describe('a listing', () => {
  const piece = fc.constantFrom('a', 'b', 'ä', '/', '-', '😀', '_');
  const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
  const key = text.filter((one) => one !== '' && !one.startsWith('/') && !one.includes('//'));
  let number = 0;

  it('equals the sorted keys, whatever its prefix, delimiter and page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(key, { minLength: 1, maxLength: 30 }),
        text,
        fc.option(fc.constantFrom('/', '-', 'a', '/a'), { nil: undefined }),
        fc.integer({ min: 1, max: 12 }),
        async (keys, prefix, delimiter, limit) => {
          const bucket = `listed-${(number += 1)}`;
          await bucketWith(bucket, keys);
          const query = { prefix, ...(delimiter !== undefined && { delimiter }) };
          expect(await walk(bucket, query, limit)).toEqual(expectedRows(keys, prefix, delimiter));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('begins after a key that need not exist', async () => {
    await bucketWith('after', ['a', 'b/1', 'b/2', 'c']);
    expect(await walk('after', { start_after: 'a' }, 10)).toEqual(['key b/1', 'key b/2', 'key c']);
    expect(await walk('after', { start_after: 'b/1', delimiter: '/' }, 1)).toEqual(['prefix b/', 'key c']);
  });

  it('neither misses nor repeats what is there throughout, while other keys come and go', async () => {
    const stay = Array.from({ length: 40 }, (_, n) => `s/${String(n).padStart(2, '0')}`);
    await bucketWith('moving', stay);
    const seen: string[] = [];
    for (let cursor: string | null = '', page = 0; cursor !== null; page += 1) {
      await api.put('moving', `s/${String(page * 7).padStart(2, '0')}-new`, 'x');
      const asked = `limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const listing = (await api.send('GET', `/buckets/moving/objects?${asked}`)).body as ObjectListing;
      seen.push(...listing.objects.map(({ key: found }) => found));
      cursor = listing.cursor;
    }
    expect(seen.filter((one) => !one.endsWith('-new'))).toEqual(stay);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('refuses cursors of other listings and of none', async () => {
    await bucketWith('cursors', ['a', 'b']);
    const { cursor } = (await api.send('GET', '/buckets/cursors/objects?limit=1')).body as ObjectListing;
    const refused = (query: string) => api.refusal('GET', `/buckets/cursors/objects?${query}`);
    expect(await refused(`prefix=a&cursor=${cursor}`)).toEqual([400, 'invalid cursor']);
    expect(await refused('cursor=AAAA')).toEqual([400, 'invalid cursor']);
    expect(await refused(`prefix=${encodeURIComponent('ä'.repeat(600))}`)).toEqual([
      400,
      'prefix: must have at most 1024 bytes',
    ]);
    expect(await api.refusal('GET', '/buckets/absent/objects')).toEqual([404, 'bucket not found']);
  });

  it('seeks each row of a folder view in the index', async () => {
    const { id } = await api.bucket('many');
    await server.db.sql`
      insert into storage.objects (tenant_id, bucket_id, key, size, etag, checksum, content_type)
      select 'default', ${id}, 'folder-' || n % 5 || '/' || n, 0, '"x"', 'crc32c:00000000', 'text/plain'
      from generate_series(1, 5000) as n`;
    expect(await walk('many', { delimiter: '/' }, 1000)).toEqual(
      [0, 1, 2, 3, 4].map((n) => `prefix folder-${n}/`),
    );
  });
});
