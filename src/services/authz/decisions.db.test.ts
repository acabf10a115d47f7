import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '../../../generated/authz/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { pluck, question, tools, type Tools, tuple } from './testing.ts';

// The same cases in both modes of the model: fully in memory, and fetched slice by slice.
describe.each([
  ['full', {}],
  ['partial', { PLINTH_AUTHZ_PRELOAD_FACTS: '0' }],
])('with a %s model', (_, env) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer({ services: ['authz'], env });
  });
  afterAll(() => server.close());

  /** A tenant where user `rbac` may read by a role, `rebac` by a relation and `abac` by a policy. */
  async function withThreeModels(): Promise<Tools> {
    const api = tools(server);
    const role = await api.role({ name: 'Reader' });
    const permission = await api.permission({ resource: 'document', action: 'read' });
    await api.attach(role.id, permission.id);
    await api.assignment({ role_id: role.id, subject_kind: 'user', subject_id: 'rbac' });
    await api.relation('document:1#read@group:eng#member');
    await api.relation('group:eng#member@user:rebac');
    await api.policy({
      ...{
        name: 'Readers',
        effect: 'allow',
        subjects: ['user:abac'],
        actions: ['read'],
        resources: ['document:*'],
      },
    });
    return api;
  }

  describe('check', () => {
    it('says which model allows, by which rule, and at which revision', async () => {
      const api = await withThreeModels();
      const revision = 7;
      expect(await api.check('user:rbac', 'read', 'document:1')).toEqual({
        ...{ allowed: true, decision: 'allow', sources: ['rbac'], revision },
        reason: 'role "reader" grants "document:read"',
        matched_by: { source: 'rbac', rule_id: expect.stringMatching(/^perm_/), detail: 'role "reader"' },
      });
      expect(await api.check('user:rebac', 'read', 'document:1')).toMatchObject({
        ...{ allowed: true, sources: ['rebac'], revision },
        reason: 'relation "document:1#read" includes user "rebac"',
        matched_by: { source: 'rebac', rule_id: expect.stringMatching(/^rel_/) },
      });
      expect(await api.check('user:abac', 'read', 'document:1')).toMatchObject({
        ...{ allowed: true, sources: ['abac'], revision },
        reason: 'allowed by policy "Readers"',
        matched_by: { source: 'abac', rule_id: expect.stringMatching(/^pol_/) },
      });
      expect(await api.check('user:nobody', 'read', 'document:1')).toEqual({
        ...{ allowed: false, decision: 'deny', sources: [], revision, matched_by: null },
        reason: 'user "nobody" has no role, relation or policy that grants "document:read"',
      });
    });

    it('lets a deny policy beat every allow, whatever its priority', async () => {
      const api = await withThreeModels();
      await api.policy({
        ...{ name: 'Freeze', effect: 'deny', priority: 1_000_000 },
        ...{ subjects: ['*'], actions: ['*'], resources: ['*'] },
      });
      for (const subject of ['rbac', 'rebac', 'abac', 'nobody'])
        expect(await api.check(`user:${subject}`, 'read', 'document:1')).toMatchObject({
          ...{ allowed: false, sources: ['abac'], reason: 'denied by policy "Freeze"' },
        });
    });

    it.each([
      ['an unknown member', { reosurce_id: '1' }, 'reosurce_id: unknown'],
      ['a context over 16 KiB', { context: { a: 'x'.repeat(16_384) } }, 'context: larger than 16 KiB'],
      ['an id over 1,024 bytes', { resource_id: 'é'.repeat(513) }, 'resource_id: longer than 1024 bytes'],
      ['a revision that is not reached', { min_revision: 1_000_000 }, 'min_revision: not reached'],
    ])('refuses %s', async (_case, more, message) => {
      const api = tools(server);
      expect(
        await api.refusal('POST', '/authz/check', {
          body: { ...question('user:a', 'read', 'document:1'), ...more },
        }),
      ).toEqual([400, message]);
    });

    it('takes the names of prototypes as plain text', async () => {
      const api = tools(server);
      await api.relation('constructor:__proto__#toString@hasOwnProperty:valueOf');
      const context = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as object;
      expect(
        (await api.check('hasOwnProperty:valueOf', 'toString', 'constructor:__proto__', { context })).allowed,
      ).toBe(true);
      expect((await api.check('hasOwnProperty:toString', 'toString', 'constructor:__proto__')).allowed).toBe(
        false,
      );
      expect((await api.check('user:__proto__', 'constructor', 'document:toString')).allowed).toBe(false);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    });
  });

  describe('enforce', () => {
    it('answers like check when allowed, and 403 with the envelope and the decision when denied', async () => {
      const api = await withThreeModels();
      const allowed = await api.request('POST', '/authz/enforce', {
        body: question('user:rbac', 'read', 'document:1'),
      });
      expect([allowed.status, allowed.body]).toEqual([
        200,
        await api.check('user:rbac', 'read', 'document:1'),
      ]);
      const denied = await api.request('POST', '/authz/enforce', {
        body: question('user:nobody', 'read', 'document:1'),
      });
      const decision = await api.check('user:nobody', 'read', 'document:1');
      expect([denied.status, denied.body]).toEqual([
        403,
        { error: { code: 403, message: decision.reason }, ...decision },
      ]);
    });
  });

  describe('batch check', () => {
    it('answers 1,000 checks in their order at one revision, while writes go on', async () => {
      const api = await withThreeModels();
      const checks = Array.from({ length: 1000 }, (_, n) =>
        question(`user:${['rbac', 'rebac', 'abac', 'x'][n % 4]}`, 'read', 'document:1'),
      );
      const writes = Array.from({ length: 5 }, (_, n) => api.relation(`document:${n}#owner@user:w`));
      const response = await api.request('POST', '/authz/batch-check', { body: { checks } });
      await Promise.all(writes);
      expect(response.status).toBe(200);
      const allowed = pluck(response.body.results, 'allowed');
      expect(allowed).toEqual(checks.map((_, n) => n % 4 !== 3));
      expect(new Set(pluck(response.body.results, 'revision')).size).toBe(1);
    });

    it('refuses 1,001 checks and none, and names the item that is wrong', async () => {
      const api = tools(server);
      const one = question('user:a', 'read', 'document:1');
      expect(
        (await api.request('POST', '/authz/batch-check', { body: { checks: Array(1001).fill(one) } })).status,
      ).toBe(400);
      expect((await api.request('POST', '/authz/batch-check', { body: { checks: [] } })).status).toBe(400);
      const { action: _, ...without } = one;
      expect(
        await api.refusal('POST', '/authz/batch-check', { body: { checks: [one, one, without] } }),
      ).toEqual([400, 'checks[2].action: required']);
      const deep = { a: { a: { a: { a: { a: { a: { a: { a: {} } } } } } } } };
      expect(
        await api.refusal('POST', '/authz/batch-check', {
          body: { checks: [one, { ...one, context: deep }] },
        }),
      ).toEqual([400, 'checks[1].context: nested deeper than 8 levels']);
    });
  });

  describe('a write', () => {
    it('is seen by the next check of the same process without any token', async () => {
      const api = tools(server);
      for (let n = 0; n < 20; n += 1) {
        await api.relation('document:1#read@user:a');
        expect((await api.check('user:a', 'read', 'document:1')).allowed).toBe(true);
        await api.send('POST', '/relations/delete', { body: tuple('document:1#read@user:a') });
        expect((await api.check('user:a', 'read', 'document:1')).allowed).toBe(false);
      }
    });

    it('is seen at its revision: who was removed before content was added does not see the content', async () => {
      const api = tools(server);
      await api.resourceType({
        ...{ name: 'document', relations: [{ name: 'parent', subjects: ['folder'] }] },
        permissions: [{ name: 'read', expression: 'parent->viewer' }],
      });
      await api.relation('folder:f#viewer@user:mallory');
      expect((await api.check('user:mallory', 'read', 'document:secret')).allowed).toBe(false);
      await api.send('POST', '/relations/delete', { body: tuple('folder:f#viewer@user:mallory') });
      const added = await api.request('POST', '/relations', {
        body: tuple('document:secret#parent@folder:f'),
      });
      const min_revision = Number(added.headers.get('x-revision'));
      const decision = await api.check('user:mallory', 'read', 'document:secret', { min_revision });
      expect(decision.allowed).toBe(false);
      expect(decision.revision).toBeGreaterThanOrEqual(min_revision);
      expect((await api.check('user:mallory', 'read', 'document:secret', { fresh: true })).allowed).toBe(
        false,
      );
    });
  });

  describe('explain', () => {
    it('agrees with check and names what is missing', async () => {
      const api = await withThreeModels();
      const explain = async (subject: string) =>
        (await api.send('POST', '/authz/explain', {
          body: question(subject, 'read', 'document:1'),
        })) as Explanation;
      for (const subject of ['user:rbac', 'user:rebac', 'user:abac', 'user:nobody'])
        expect(await explain(subject)).toMatchObject(await api.check(subject, 'read', 'document:1'));
      expect((await explain('user:rebac')).path).toEqual([
        ...['document:1#read@group:eng#member', 'group:eng#member@user:rebac'],
      ]);
      const { missing } = await explain('user:nobody');
      const role = missing.find(({ kind }) => kind === 'role');
      await api.assignment({ role_id: role?.id, subject_kind: 'user', subject_id: 'nobody' });
      expect((await api.check('user:nobody', 'read', 'document:1')).allowed).toBe(true);
    });
  });

  describe('listings', () => {
    it('answer what check allows, page by page, in code-point order', async () => {
      const api = await withThreeModels();
      const ids = ['1', '2', '10', 'Z', 'a', 'é', '🦊'];
      await api.send('POST', '/relations/batch', {
        body: {
          writes: ids.slice(1).map((id) => tuple(`document:${id}#read@user:rebac`)),
        },
      });
      const found: string[] = [];
      let cursor = '';
      do {
        const response = await api.request('POST', '/authz/list-objects', {
          body: {
            subject_kind: 'user',
            subject_id: 'rebac',
            action: 'read',
            resource_type: 'document',
            limit: 2,
            cursor,
          },
        });
        expect(response.status, response.text).toBe(200);
        expect(response.body.complete).toBe(response.body.next_cursor === '');
        found.push(...(response.body.resource_ids as string[]));
        cursor = response.body.next_cursor;
      } while (cursor !== '');
      expect(found).toEqual(['1', '10', '2', 'Z', 'a', 'é', '🦊']);
      for (const id of found)
        expect((await api.check('user:rebac', 'read', `document:${id}`)).allowed).toBe(true);
    });

    it('list the subjects of a resource', async () => {
      const api = await withThreeModels();
      expect(
        await api.send('POST', '/authz/list-subjects', {
          body: { subject_kind: 'user', action: 'read', resource_type: 'document', resource_id: '1' },
        }),
      ).toMatchObject({
        subject_ids: ['abac', 'rbac', 'rebac'],
        all: false,
        complete: true,
      });
    });

    it('say when every id of the type is allowed', async () => {
      const api = await withThreeModels();
      expect(
        await api.send('POST', '/authz/list-objects', {
          body: { subject_kind: 'user', subject_id: 'rbac', action: 'read', resource_type: 'document' },
        }),
      ).toMatchObject({ resource_ids: ['1'], all: true, complete: true });
    });

    it('refuse the cursor of another query', async () => {
      const api = await withThreeModels();
      await api.send('POST', '/relations', { body: tuple('document:2#read@user:rebac') });
      const query = {
        subject_kind: 'user',
        subject_id: 'rebac',
        action: 'read',
        resource_type: 'document',
        limit: 1,
      };
      const { next_cursor } = await api.send('POST', '/authz/list-objects', { body: query });
      expect(
        await api.refusal('POST', '/authz/list-objects', {
          body: { ...query, action: 'write', cursor: next_cursor },
        }),
      ).toEqual([400, 'cursor: belongs to another query']);
      expect(
        await api.send('POST', '/authz/list-objects', {
          body: { ...query, limit: 100, cursor: next_cursor },
        }),
      ).toMatchObject({ resource_ids: ['2'], complete: true });
    });
  });
});
