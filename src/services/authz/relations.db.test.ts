import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, tools, tuple } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

describe('write', () => {
  it('stores a tuple once; a duplicate is refused, or answered when it may be ignored', async () => {
    const api = tools(server);
    const text = 'document:readme#viewer@group:eng#member';
    const given = tuple(text);
    const relation = await api.relation(text);
    expect(relation).toMatchObject({ ...given, expires_at: null, revision: 1 });
    expect(await api.refusal('POST', '/relations', { body: given })).toEqual([
      409,
      'relation already exists',
    ]);
    const ignored = await api.request('POST', '/relations', { body: { ...given, on_duplicate: 'ignore' } });
    expect([ignored.status, ignored.body, ignored.headers.get('x-revision')]).toEqual([200, relation, '1']);
    await api.relation('group:eng#member@user:a');
    expect((await api.check('user:a', 'viewer', 'document:readme')).allowed).toBe(true);
  });

  it.each([
    [{ subject_id: '*', subject_relation: 'member' }, 'subject_relation: not with the subject *'],
    [{ object_id: '*' }, /^object_id: /],
    [{ object_id: ' a' }, /^object_id: /],
    [{ relation: 'a b' }, /^relation: /],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
  ])('refuses %j', async (change, message) => {
    const [status, error] = await tools(server).refusal('POST', '/relations', {
      body: { ...tuple('document:1#viewer@user:a'), ...change },
    });
    expect(status).toBe(400);
    expect(error).toEqual(message instanceof RegExp ? expect.stringMatching(message) : message);
  });

  it('refuses what the declared type of the object does not allow', async () => {
    const api = tools(server);
    await api.resourceType({
      name: 'document',
      relations: [{ name: 'viewer', subjects: ['user', 'group#member'] }],
      permissions: [{ name: 'read', expression: 'viewer' }],
    });
    const message = async (text: string) =>
      (await api.refusal('POST', '/relations', { body: tuple(text) }))[1];
    expect(await message('document:1#read@user:a')).toBe('relation: "read" is not a relation of "document"');
    expect(await message('document:1#viewer@user:*')).toBe(
      'subject_type: "user:*" is not a subject of "document#viewer"',
    );
    expect(await message('document:1#viewer@group:eng')).toBe(
      'subject_type: "group" is not a subject of "document#viewer"',
    );
    await api.relation('document:1#viewer@group:eng#member');
  });

  it('keeps apart what only looks alike', async () => {
    const api = tools(server);
    const ids = ['a:b', 'a#b', 'a/b', 'a*', '🦊', '__proto__', 'constructor', 'é'.repeat(512), 'a b'];
    for (const id of ids) {
      await api.relation('document:x#viewer@user:y', {
        ...{ object_id: id, subject_id: `${id.slice(0, 500)}!` },
      });
    }
    for (const object of ids) {
      for (const subject of ids) {
        const asked = { resource_id: object, subject_id: `${subject.slice(0, 500)}!` };
        const { allowed } = await api.check('user:y', 'viewer', 'document:x', asked);
        expect(allowed, `${object} ${subject}`).toBe(object === subject);
      }
    }
  });
});

describe('delete', () => {
  it('answers 204 whether or not the tuple is there, and takes what was read', async () => {
    const api = tools(server);
    const relation = await api.relation('document:1#viewer@user:a');
    const first = await api.request('POST', '/relations/delete', { body: relation });
    expect([first.status, first.headers.get('x-revision')]).toEqual([204, '2']);
    const second = await api.request('POST', '/relations/delete', {
      body: tuple('document:1#viewer@user:a'),
    });
    expect([second.status, second.headers.get('x-revision')]).toEqual([204, '2']);
  });

  it('raises nothing in a tenant that nothing was written to', async () => {
    const response = await tools(server).request('POST', '/relations/delete', {
      body: tuple('document:1#viewer@user:a'),
    });
    expect([response.status, response.headers.get('x-revision')]).toEqual([204, '0']);
  });
});

describe('batch', () => {
  it('writes and deletes in one step and tells how much', async () => {
    const api = tools(server);
    await api.relation('document:1#owner@user:a');
    await api.relation('document:1#viewer@user:a');
    const response = await api.request('POST', '/relations/batch', {
      body: {
        writes: ['document:1#viewer@user:a', 'document:1#viewer@user:b'].map(tuple),
        deletes: ['document:1#owner@user:a', 'document:1#owner@user:absent'].map(tuple),
        on_duplicate: 'ignore',
      },
    });
    expect([response.status, response.body]).toEqual([200, { written: 1, deleted: 1, revision: 3 }]);
    expect(pluck(await api.send('GET', '/relations'), 'subject_id')).toEqual(['a', 'b']);
  });

  it('does nothing at all where one tuple is a duplicate', async () => {
    const api = tools(server);
    await api.relation('document:1#viewer@user:a');
    expect(
      await api.refusal('POST', '/relations/batch', {
        body: {
          writes: ['document:1#viewer@user:b', 'document:1#viewer@user:a'].map(tuple),
        },
      }),
    ).toEqual([409, 'relation already exists']);
    expect(await api.send('GET', '/relations')).toHaveLength(1);
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
    expect(await tools(server).refusal('POST', '/relations/batch', { body })).toEqual([400, message]);
  });

  it('takes 2,000 writes and 2,000 deletes, and not one more', async () => {
    const api = tools(server);
    const many = (n: number, relation: string) =>
      Array.from({ length: n }, (_, i) => tuple(`document:${i}#${relation}@user:a`));
    expect(
      await api.send('POST', '/relations/batch', {
        body: {
          writes: many(2000, 'viewer'),
          deletes: many(2000, 'owner'),
        },
      }),
    ).toEqual({ written: 2000, deleted: 0, revision: 1 });
    expect(
      (await api.request('POST', '/relations/batch', { body: { writes: many(2001, 'viewer') } })).status,
    ).toBe(400);
  });
});

describe('purge', () => {
  it('removes 25,000 tuples of an object in three calls, also after one that was cut off', async () => {
    const api = tools(server);
    const calls = Array.from({ length: 13 }, (_, call) =>
      api.request('POST', '/relations/batch', {
        body: {
          writes: Array.from({ length: call < 12 ? 2000 : 1000 }, (_, i) =>
            tuple(`group:all#member@user:${call}-${i}`),
          ),
        },
      }),
    );
    expect((await Promise.all(calls)).every(({ status }) => status === 200)).toBe(true);
    await api.send('POST', '/relations', { body: tuple('group:other#member@user:a') });
    const purge = async () =>
      (await api.send('POST', '/relations/purge', {
        body: { object_type: 'group', object_id: 'all' },
      })) as unknown;
    expect(await purge()).toEqual({ deleted: 10_000, complete: false, revision: 15 });
    expect(await purge()).toEqual({ deleted: 10_000, complete: false, revision: 16 });
    expect(await purge()).toEqual({ deleted: 5_000, complete: true, revision: 17 });
    expect(await purge()).toEqual({ deleted: 0, complete: true, revision: 17 });
    expect(await api.send('GET', '/relations')).toHaveLength(1);
    const [{ tuples }] = await server.db.sql<[{ tuples: number }]>`
      select tuples from authz.tenants where tenant_id = ${api.tenant}`;
    expect(tuples).toBe(1);
  }, 60_000);

  it('removes what a subject is in, or one relation of it', async () => {
    const api = tools(server);
    await api.send('POST', '/relations/batch', {
      body: {
        writes: ['document:1#viewer@user:a', 'document:1#owner@user:a', 'document:1#viewer@user:b'].map(
          tuple,
        ),
      },
    });
    expect(
      await api.send('POST', '/relations/purge', {
        body: { subject_type: 'user', subject_id: 'a', relation: 'owner' },
      }),
    ).toMatchObject({ deleted: 1, complete: true });
    expect((await api.check('user:a', 'viewer', 'document:1')).allowed).toBe(true);
    expect(
      await api.send('POST', '/relations/purge', { body: { subject_type: 'user', subject_id: 'a' } }),
    ).toMatchObject({ deleted: 1, complete: true });
    expect((await api.check('user:a', 'viewer', 'document:1')).allowed).toBe(false);
    expect(await api.send('GET', '/relations')).toHaveLength(1);
  });

  it.each([
    {},
    { object_type: 'a' },
    { object_type: 'a', object_id: 'b', subject_type: 'c', subject_id: 'd' },
  ])('refuses %j: it must be one object or one subject', async (body) => {
    expect(await tools(server).refusal('POST', '/relations/purge', { body })).toEqual([
      400,
      'object_id: either object_type and object_id or subject_type and subject_id are required',
    ]);
  });
});

it.each([
  [{ object_id: 'a\u0085' }, /^object_id: /],
  [{ subject_id: '\u0085a' }, /^subject_id: /],
  [{ subject_id: 'a\u009fb' }, /^subject_id: /],
  [
    { expires_at: '9999-12-31T23:59:59-01:00' },
    /^expires_at: must lie between 0001-01-01T00:00:00Z and 9999-/,
  ],
  [{ expires_at: '2016-12-31T23:59:59Z' }, /^expires_at: must be in the future$/],
  [{ expires_at: '2036-12-31T23:59:60Z' }, /^expires_at: must be a time such as /],
])('refuses %j', async (change, message) => {
  const [status, error] = await tools(server).refusal('POST', '/relations', {
    body: { ...tuple('document:1#viewer@user:a'), ...change },
  });
  expect(status).toBe(400);
  expect(error).toMatch(message);
});
