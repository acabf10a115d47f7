import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { type ContractBreach, strictContract } from './contract.ts';
import type { Outgoing } from './respond.ts';

const breaches: ContractBreach[] = [];
const contract = strictContract(new URL('../../tsp-output/openapi/Authz.json', import.meta.url), (breach) =>
  breaches.push(breach),
);
const audit = strictContract(new URL('../../tsp-output/openapi/Audit.json', import.meta.url), () => {});
const operation = (id: string) => operations.find((one) => one.service === 'authz' && one.id === id)!;
const req = { headers: { 'content-type': 'application/json' } } as IncomingMessage;

const role = {
  ...{
    id: 'role_01m7w4n5e0f7drekxj50y51wjg',
    tenant_id: 'default',
    app_id: 'default',
    name: 'Editor',
    slug: 'editor',
  },
  ...{
    description: '',
    parent_id: null,
    is_system: false,
    is_default: false,
    metadata: { tier: 'premium' },
    revision: 7,
  },
  ...{ created_at: '2026-11-20T09:30:00.000Z', updated_at: '2026-11-20T09:30:00.000Z' },
};
const answer = (status: number, body: unknown, headers?: Record<string, string>): Outgoing => ({
  ...{
    status,
    headers,
    contentType: 'application/json',
    body: body === undefined ? undefined : JSON.stringify(body),
  },
});

describe('a request', () => {
  test('with headers that the frame reads by itself is not judged by them: from most callers they mean nothing', async () => {
    const headers = { 'x-tenant-id': 'a b', 'x-user-id': 'é', 'idempotency-key': 'a b' };
    const sent = { headers: { ...req.headers, ...headers } } as unknown as IncomingMessage;
    const wire = { params: {}, query: {}, body: { name: 'Editor' } };
    await contract.request(operation('Roles_create'), sent, wire);
  });
});

describe('a response', () => {
  const judge = (id: string, outgoing: Outgoing) => contract.response(operation(id), req, outgoing);

  test.each<[string, string, Outgoing]>([
    ['as documented', 'Roles_get', answer(200, role)],
    ['with documented headers', 'Roles_create', answer(201, role, { 'X-Revision': '7' })],
    [
      'that is a documented error',
      'Roles_get',
      answer(404, { error: { code: 404, message: 'role not found' } }),
    ],
    [
      'without content',
      'Roles_delete',
      { status: 204, contentType: null, headers: { 'X-Revision': '8' }, body: undefined },
    ],
    [
      'of the frame: a key whose rate is used up',
      'Roles_get',
      answer(429, { error: { code: 429, message: 'x' } }, { 'Retry-After': '1' }),
    ],
  ])('%s passes', async (_, id, outgoing) => {
    await expect(judge(id, outgoing)).resolves.toBeUndefined();
  });

  test.each<[string, string, Outgoing, RegExp]>([
    ['without a member', 'Roles_get', answer(200, { ...role, name: undefined }), /name/],
    ['with a member that nobody documented', 'Roles_get', answer(200, { ...role, secret: 1 }), /secret/],
    ['of a wrong type', 'Roles_get', answer(200, { ...role, revision: '7' }), /revision must be integer/],
    [
      'with a timestamp that is none',
      'Roles_get',
      answer(200, { ...role, created_at: 'yesterday' }),
      /created_at/,
    ],
    ['with an undocumented status', 'Roles_get', answer(202, role), /status 202 is not documented/],
    [
      'with an undocumented header',
      'Roles_get',
      answer(200, role, { 'X-Surprise': '1' }),
      /header X-Surprise is not documented/,
    ],
    ['with another envelope', 'Roles_get', answer(404, { message: 'gone' }), /error/],
  ])('%s is a breach that says why', async (_, id, outgoing, why) => {
    const before = breaches.length;
    await expect(judge(id, outgoing)).rejects.toThrow(why);
    expect(breaches).toHaveLength(before + 1);
  });
});

describe('a response of several content types', () => {
  const report = operations.find(({ service, id }) => service === 'audit' && id === 'Reports_export')!;
  const judge = (contentType: string, body: string) =>
    audit.response(report, req, { status: 200, headers: undefined, contentType, body });

  test('is judged by the one that it has', async () => {
    await expect(judge('text/csv; charset=utf-8', 'a,b')).resolves.toBeUndefined();
    await expect(judge('application/json', '{}')).rejects.toThrow('breaks the document');
  });

  test('has one that is documented', async () => {
    await expect(judge('application/pdf', '')).rejects.toThrow(
      'content type application/pdf is not documented for status 200',
    );
  });
});

describe('a request', () => {
  const judge = (
    id: string,
    wire: { params?: Record<string, string>; query?: Record<string, string>; body?: unknown },
  ) => contract.request(operation(id), req, { params: {}, query: {}, body: undefined, ...wire });

  test('that the document allows passes', async () => {
    await judge('Roles_create', { body: { name: 'Editor' } });
    await judge('Roles_list', { query: { limit: '5', search: 'a:b/c&d' } });
    await judge('Roles_get', { params: { roleId: role.id } });
  });

  test.each([
    ['Roles_create', { body: {} }],
    ['Roles_create', { body: { name: 'a', nmae: 1 } }],
    ['Roles_list', { query: { limit: '0' } }],
    ['Roles_list', { query: { nothing: '1' } }],
    ['Roles_get', { params: { roleId: 'perm_01m7w4n5e0f7drekxj50y51wjg' } }],
  ])('that it forbids is a breach: the two validators disagree (%s %j)', async (id, wire) => {
    await expect(judge(id, wire)).rejects.toThrow('the document forbids a request that the validators allow');
  });
});
