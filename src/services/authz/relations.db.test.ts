import { describe, expect, it } from 'vitest';
import { authzServer, pluck, tuple } from './testing.ts';

const authz = authzServer();

describe('write', () => {
  it('stores a tuple once; a duplicate is refused, or answered when it may be ignored', async () => {
    const { create, post, check } = authz.tenant();
    const given = tuple('document:readme#viewer@group:eng#member');
    const relation = await create('/relations', given);
    expect(relation).toMatchObject({ ...given, expires_at: null, revision: 1 });
    const again = await post('/relations', given);
    expect([again.status, again.body.error.message]).toEqual([409, 'relation already exists']);
    const ignored = await post('/relations', { ...given, on_duplicate: 'ignore' });
    expect([ignored.status, ignored.body, ignored.headers.get('x-revision')]).toEqual([200, relation, '1']);
    await create('/relations', tuple('group:eng#member@user:a'));
    expect((await check('user:a', 'viewer', 'document:readme')).allowed).toBe(true);
  });

  it.each([
    [{ subject_id: '*', subject_relation: 'member' }, 'subject_relation: not with the subject *'],
    [{ object_id: '*' }, /^object_id: /],
    [{ object_id: ' a' }, /^object_id: /],
    [{ relation: 'a b' }, /^relation: /],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
  ])('refuses %j', async (change, message) => {
    const response = await authz
      .tenant()
      .post('/relations', { ...tuple('document:1#viewer@user:a'), ...change });
    expect(response.status).toBe(400);
    expect(response.body.error.message).toEqual(
      message instanceof RegExp ? expect.stringMatching(message) : message,
    );
  });

  it('refuses what the declared type of the object does not allow', async () => {
    const { create, post } = authz.tenant();
    await create('/resource-types', {
      name: 'document',
      relations: [{ name: 'viewer', subjects: ['user', 'group#member'] }],
      permissions: [{ name: 'read', expression: 'viewer' }],
    });
    const message = async (text: string) =>
      (await post('/relations', tuple(text))).body.error?.message as unknown;
    expect(await message('document:1#read@user:a')).toBe('relation: "read" is not a relation of "document"');
    expect(await message('document:1#viewer@user:*')).toBe(
      'subject_type: "user:*" is not a subject of "document#viewer"',
    );
    expect(await message('document:1#viewer@group:eng')).toBe(
      'subject_type: "group" is not a subject of "document#viewer"',
    );
    await create('/relations', tuple('document:1#viewer@group:eng#member'));
  });

  it('keeps apart what only looks alike', async () => {
    const { create, check } = authz.tenant();
    const ids = ['a:b', 'a#b', 'a/b', 'a*', '🦊', '__proto__', 'constructor', 'é'.repeat(512), 'a b'];
    for (const id of ids) {
      await create('/relations', {
        ...tuple('document:x#viewer@user:y'),
        ...{ object_id: id, subject_id: `${id.slice(0, 500)}!` },
      });
    }
    for (const object of ids) {
      for (const subject of ids) {
        const asked = { resource_id: object, subject_id: `${subject.slice(0, 500)}!` };
        const { allowed } = await check('user:y', 'viewer', 'document:x', asked);
        expect(allowed, `${object} ${subject}`).toBe(object === subject);
      }
    }
  });
});

describe('delete', () => {
  it('answers 204 whether or not the tuple is there, and takes what was read', async () => {
    const { create, post } = authz.tenant();
    const relation = await create('/relations', tuple('document:1#viewer@user:a'));
    const first = await post('/relations/delete', relation);
    expect([first.status, first.headers.get('x-revision')]).toEqual([204, '2']);
    const second = await post('/relations/delete', tuple('document:1#viewer@user:a'));
    expect([second.status, second.headers.get('x-revision')]).toEqual([204, '2']);
  });

  it('raises nothing in a tenant that nothing was written to', async () => {
    const response = await authz.tenant().post('/relations/delete', tuple('document:1#viewer@user:a'));
    expect([response.status, response.headers.get('x-revision')]).toEqual([204, '0']);
  });
});

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
    const { post, get } = authz.tenant();
    await post('/relations/batch', { writes: texts.map(tuple).reverse() });
    for (const limit of [1, 2, 50]) {
      const found: object[] = [];
      let cursor: string | null = null;
      do {
        const response = await get(
          `/relations?limit=${limit}&${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        expect(response.status, response.text).toBe(200);
        found.push(...(response.body as object[]));
        cursor = response.headers.get('x-next-cursor');
      } while (cursor !== null);
      expect(found).toMatchObject(wanted.map((n) => tuple(texts[n] ?? '')));
    }
    const second = await get(`/relations?limit=2&offset=1&${query}`);
    expect(second.body).toMatchObject(wanted.slice(1, 3).map((n) => tuple(texts[n] ?? '')));
  });

  it.each([
    ['object_id=1', 'object_type: required with object_id'],
    ['relation=viewer', 'object_type: required with relation'],
    ['subject_id=a', 'subject_type: required with subject_id'],
    ['subject_type=user&subject_relation=x', 'subject_id: required with subject_relation'],
    ['offset=1&cursor=e30', 'cursor: not together with offset'],
    ['cursor=e30', 'cursor: must be one that this list gave'],
  ])('refuses "%s"', async (query, message) => {
    const response = await authz.tenant().get(`/relations?${query}`);
    expect([response.status, response.body.error.message]).toEqual([400, message]);
  });

  it('goes on where ids are too long for a cursor', async () => {
    const { post, get } = authz.tenant();
    const writes = ['a', 'b', 'c'].map((id) => ({
      ...tuple('document:x#viewer@user:y'),
      ...{ object_id: id.repeat(1024), subject_id: id.repeat(1024) },
    }));
    await post('/relations/batch', { writes });
    const first = await get('/relations?limit=2');
    const cursor = first.headers.get('x-next-cursor') ?? '';
    expect(cursor.length).toBeLessThanOrEqual(1024);
    expect((await get(`/relations?cursor=${cursor}`)).body).toEqual([expect.objectContaining(writes[2])]);
  });
});

describe('batch', () => {
  it('writes and deletes in one step and tells how much', async () => {
    const { create, post, get } = authz.tenant();
    await create('/relations', tuple('document:1#owner@user:a'));
    await create('/relations', tuple('document:1#viewer@user:a'));
    const response = await post('/relations/batch', {
      writes: ['document:1#viewer@user:a', 'document:1#viewer@user:b'].map(tuple),
      deletes: ['document:1#owner@user:a', 'document:1#owner@user:absent'].map(tuple),
      on_duplicate: 'ignore',
    });
    expect([response.status, response.body]).toEqual([200, { written: 1, deleted: 1, revision: 3 }]);
    expect(pluck((await get('/relations')).body, 'subject_id')).toEqual(['a', 'b']);
  });

  it('does nothing at all where one tuple is a duplicate', async () => {
    const { create, post, get } = authz.tenant();
    await create('/relations', tuple('document:1#viewer@user:a'));
    const response = await post('/relations/batch', {
      writes: ['document:1#viewer@user:b', 'document:1#viewer@user:a'].map(tuple),
    });
    expect([response.status, response.body.error.message]).toEqual([409, 'relation already exists']);
    expect((await get('/relations')).body).toHaveLength(1);
  });

  it.each([
    [{}, 'writes: at least one write or delete is required'],
    [
      { writes: [tuple('d:1#v@user:a')], deletes: [tuple('d:1#v@user:a')] },
      'deletes[0]: the same tuple twice',
    ],
    [{ writes: [tuple('d:1#v@user:a'), tuple('d:1#v@user:a')] }, 'writes[1]: the same tuple twice'],
    [{ deletes: [tuple('d:1#v@user:*#x')] }, 'deletes[0].subject_relation: not with the subject *'],
  ])('refuses %j', async (body, message) => {
    const response = await authz.tenant().post('/relations/batch', body);
    expect([response.status, response.body.error.message]).toEqual([400, message]);
  });

  it('takes 2,000 writes and 2,000 deletes, and not one more', async () => {
    const { post } = authz.tenant();
    const many = (n: number, relation: string) =>
      Array.from({ length: n }, (_, i) => tuple(`document:${i}#${relation}@user:a`));
    const all = await post('/relations/batch', {
      writes: many(2000, 'viewer'),
      deletes: many(2000, 'owner'),
    });
    expect(all.body).toEqual({ written: 2000, deleted: 0, revision: 1 });
    expect((await post('/relations/batch', { writes: many(2001, 'viewer') })).status).toBe(400);
  });
});

describe('purge', () => {
  it('removes 25,000 tuples of an object in three calls, also after one that was cut off', async () => {
    const { post, get, name } = authz.tenant();
    const calls = Array.from({ length: 13 }, (_, call) =>
      post('/relations/batch', {
        writes: Array.from({ length: call < 12 ? 2000 : 1000 }, (_, i) =>
          tuple(`group:all#member@user:${call}-${i}`),
        ),
      }),
    );
    expect((await Promise.all(calls)).every(({ status }) => status === 200)).toBe(true);
    await post('/relations', tuple('group:other#member@user:a'));
    const purge = async () =>
      (await post('/relations/purge', { object_type: 'group', object_id: 'all' })).body as unknown;
    expect(await purge()).toEqual({ deleted: 10_000, complete: false, revision: 15 });
    expect(await purge()).toEqual({ deleted: 10_000, complete: false, revision: 16 });
    expect(await purge()).toEqual({ deleted: 5_000, complete: true, revision: 17 });
    expect(await purge()).toEqual({ deleted: 0, complete: true, revision: 17 });
    expect((await get('/relations')).body).toHaveLength(1);
    const [{ tuples }] = await authz.server.db.sql<[{ tuples: number }]>`
      select tuples from authz.tenants where tenant_id = ${name}`;
    expect(tuples).toBe(1);
  }, 60_000);

  it('removes what a subject is in, or one relation of it', async () => {
    const { post, get, check } = authz.tenant();
    await post('/relations/batch', {
      writes: ['document:1#viewer@user:a', 'document:1#owner@user:a', 'document:1#viewer@user:b'].map(tuple),
    });
    const one = await post('/relations/purge', { subject_type: 'user', subject_id: 'a', relation: 'owner' });
    expect(one.body).toMatchObject({ deleted: 1, complete: true });
    expect((await check('user:a', 'viewer', 'document:1')).allowed).toBe(true);
    const all = await post('/relations/purge', { subject_type: 'user', subject_id: 'a' });
    expect(all.body).toMatchObject({ deleted: 1, complete: true });
    expect((await check('user:a', 'viewer', 'document:1')).allowed).toBe(false);
    expect((await get('/relations')).body).toHaveLength(1);
  });

  it.each([
    {},
    { object_type: 'a' },
    { object_type: 'a', object_id: 'b', subject_type: 'c', subject_id: 'd' },
  ])('refuses %j: it must be one object or one subject', async (body) => {
    const response = await authz.tenant().post('/relations/purge', body);
    expect([response.status, response.body.error.message]).toEqual([
      400,
      'object_id: either object_type and object_id or subject_type and subject_id are required',
    ]);
  });
});

it.each([
  [{ object_id: 'a\u0085' }, /^object_id: /],
  [{ subject_id: '\u0085a' }, /^subject_id: /],
  [{ subject_id: 'a\u009fb' }, /^subject_id: /],
  [{ expires_at: '9999-12-31T23:59:60Z' }, /^expires_at: must lie between 0001-01-01T00:00:00Z and 9999-/],
  [{ expires_at: '2016-12-31T23:59:60Z' }, /^expires_at: must be in the future$/],
])('refuses %j', async (change, message) => {
  const response = await authz
    .tenant()
    .post('/relations', { ...tuple('document:1#viewer@user:a'), ...change });
  expect(response.status).toBe(400);
  expect(response.body.error.message).toMatch(message);
});

it('takes a leap second as the beginning of the next minute', async () => {
  const response = await authz
    .tenant()
    .post('/relations', { ...tuple('document:1#viewer@user:a'), expires_at: '2036-12-31T23:59:60Z' });
  expect([response.status, response.body.expires_at]).toEqual([201, '2037-01-01T00:00:00.000Z']);
});
