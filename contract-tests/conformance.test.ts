import { describe, expect, it } from 'vitest';
import { operations } from '../generated/operations.ts';
import { breaches } from './conformance.ts';
import { nameOf, operationAt } from './contract.ts';

const create = operations.find((operation) => nameOf(operation) === 'authz.Roles_create')!;
const role = {
  id: 'role_01m7w4n5e0f7drekxj50y51wjg',
  tenant_id: 'default',
  app_id: 'default',
  name: 'Editor',
  slug: 'editor',
  description: '',
  parent_id: null,
  is_system: false,
  is_default: false,
  metadata: {},
  revision: 7,
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
};
const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1', 'x-revision': '7' };
const { slug: _slug, ...withoutSlug } = role;
const { 'x-revision': _revision, ...withoutRevision } = headers;

describe('an answer', () => {
  it('that keeps the contract has nothing said against it', async () => {
    expect(await breaches(create, Response.json(role, { status: 201, headers }))).toEqual([]);
  });

  it.each<[string, Response, RegExp]>([
    [
      'has an undocumented status',
      Response.json(role, { status: 200, headers }),
      /200: the status is not documented/,
    ],
    ['lacks a member', Response.json(withoutSlug, { status: 201, headers }), /required property 'slug'/],
    [
      'has an unknown member',
      Response.json({ ...role, x: 1 }, { status: 201, headers }),
      /body\/x must NOT be valid/,
    ],
    [
      'has a member of another type',
      Response.json({ ...role, revision: '7' }, { status: 201, headers }),
      /\/revision must be integer/,
    ],
    [
      'lacks a documented header',
      Response.json(role, { status: 201, headers: withoutRevision }),
      /no X-Revision/,
    ],
    [
      'has a header that its schema forbids',
      Response.json(role, { status: 201, headers: { ...headers, 'x-revision': '0' } }),
      /X-Revision.*>= 1/,
    ],
    [
      'has another content type',
      new Response('{}', { status: 201, headers: { ...headers, 'content-type': 'text/html' } }),
      /content type text\/html/,
    ],
    [
      'has no request id',
      Response.json(role, { status: 201, headers: { 'x-revision': '7' } }),
      /no X-Request-ID/,
    ],
    [
      'is a failure in the envelope of another service',
      Response.json({ error: 'x', code: 'NOT_FOUND' }, { status: 404, headers }),
      /\/error must be object/,
    ],
  ])('that %s is a breach', async (_, response, breach) => {
    expect((await breaches(create, response)).join('\n')).toMatch(breach);
  });
});

describe('a request', () => {
  it.each([
    ['POST', '/keys/v1/keys/validate', 'keys.Keys_validate'],
    ['GET', '/keys/v1/keys/key_01m7w6qgepfq9s8vbpxf0zva73', 'keys.Keys_get'],
    ['GET', '/keys/v1/keys/validate', undefined],
    ['GET', '/authz/v1/keys', undefined],
    ['PUT', '/storage/v1/store/v1/buckets/a/objects/b/c', undefined],
    ['PUT', '/storage/store/v1/buckets/a/objects/b/c', 'storage.Objects_put'],
    ['POST', '/gateway/gateway/api/routes/manual-/users/*/enable', 'gateway.Routes_enable'],
  ])('%s %s means %s', (method, path, name) => {
    const operation = operationAt(method, path);
    expect(operation && nameOf(operation)).toBe(name);
  });
});
