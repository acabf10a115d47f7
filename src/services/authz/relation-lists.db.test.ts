import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools, tuple } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

describe('list', () => {
  const texts = [
    ...['document:1#owner@user:a', 'document:1#viewer@group:eng#member', 'document:1#viewer@user:*'],
    ...[
      'document:2#viewer@user:a',
      'folder:1#viewer@user:a',
      'group:eng#member@user:a',
      'group:eng#member@user:b',
    ],
  ];
  /** Ordered by key: type, relation, object, subject. */
  const order = [0, 1, 2, 3, 4, 5, 6];

  it.each([
    ['', order],
    ['object_type=document', [0, 1, 2, 3]],
    ['object_type=document&relation=viewer', [1, 2, 3]],
    ['object_type=document&object_id=1', [0, 1, 2]],
    ['object_type=document&relation=viewer&object_id=1', [1, 2]],
    ['object_type=document&object_id=1&subject_type=user', [0, 2]],
    ['subject_type=user', [0, 2, 3, 4, 5, 6]],
    ['subject_type=user&subject_id=a', [0, 3, 4, 5]],
    ['subject_type=user&subject_id=a&object_type=document', [0, 3]],
    ['subject_type=user&subject_id=a&object_type=document&object_id=2', [3]],
    ['subject_type=group&subject_id=eng', [1]],
    ['subject_type=group&subject_id=eng&subject_relation=member', [1]],
    ['subject_type=group&subject_id=eng&subject_relation=', []],
  ])('filters by "%s", whatever the size of the page', async (query, wanted) => {
    const api = tools(server);
    await api.send('POST', '/relations/batch', { body: { writes: texts.map(tuple).reverse() } });
    for (const limit of [1, 2, 50]) {
      const found: object[] = [];
      let cursor: string | null = null;
      do {
        const response = await api.request(
          'GET',
          `/relations?limit=${limit}&${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        expect(response.status, response.text).toBe(200);
        found.push(...(response.body as object[]));
        cursor = response.headers.get('x-next-cursor');
      } while (cursor !== null);
      expect(found).toMatchObject(wanted.map((n) => tuple(texts[n] ?? '')));
    }
    expect(await api.send('GET', `/relations?limit=2&offset=1&${query}`)).toMatchObject(
      wanted.slice(1, 3).map((n) => tuple(texts[n] ?? '')),
    );
  });

  it.each([
    ['object_id=1', 'object_type: required with object_id'],
    ['relation=viewer', 'object_type: required with relation'],
    ['subject_id=a', 'subject_type: required with subject_id'],
    ['subject_type=user&subject_relation=x', 'subject_id: required with subject_relation'],
    ['offset=1&cursor=e30', 'cursor: cannot be combined with offset'],
    ['cursor=e30', 'cursor: must be one that this list gave'],
  ])('refuses "%s"', async (query, message) => {
    expect(await tools(server).refusal('GET', `/relations?${query}`)).toEqual([400, message]);
  });

  it('goes on where ids are too long for a cursor', async () => {
    const api = tools(server);
    const writes = ['a', 'b', 'c'].map((id) => ({
      ...tuple('document:x#viewer@user:y'),
      ...{ object_id: id.repeat(1024), subject_id: id.repeat(1024) },
    }));
    await api.send('POST', '/relations/batch', { body: { writes } });
    const first = await api.request('GET', '/relations?limit=2');
    const cursor = first.headers.get('x-next-cursor') ?? '';
    expect(cursor.length).toBeLessThanOrEqual(1024);
    expect(await api.send('GET', `/relations?cursor=${cursor}`)).toEqual([
      expect.objectContaining(writes[2]),
    ]);
  });
});
