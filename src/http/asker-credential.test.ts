import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeCredential } from './asker-credential.ts';
import { nobody, type Caller } from './caller.ts';
import { anonymousRoot, root } from './credentials.ts';
import { demoServer } from './fixture/server.ts';

const raw = `sk_live_${'a'.repeat(55)}`;
const verdict = {
  ...{ valid: true, code: 'VALID', retry_after: null, scopes: ['demo:read'] },
  key: { id: 'key_1', tenant_id: 'acme', app_id: 'shop' },
};

let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer({ verdict });
});
afterAll(() => server.close());

const caller: Caller = {
  ...{ tenant: 'acme', app: 'shop', actor: 'key_2', userId: null, subjectId: null },
  ...{ credential: { kind: 'key', id: 'key_2' }, session: null, scopes: ['demo:read'], confined: false },
};
const whoami = (headers: Record<string, string>, token?: string) =>
  server.send('GET', '/v1/whoami', { headers, ...(token !== undefined && { token }) });
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('the credential of whom root speaks for', () => {
  test('is the credential of the request', async () => {
    const { text } = await whoami({ 'X-Tenant-ID': 'acme', 'X-Credential': encodeCredential(caller)! });
    expect(JSON.parse(text)).toEqual({ tenant: 'acme', credential: { kind: 'key', id: 'key_2' } });
  });

  test('is not asked for when root speaks for itself', () => {
    expect([root, anonymousRoot].map(encodeCredential)).toEqual([undefined, undefined]);
  });

  test('may be none at all, which is no root', async () => {
    const headers = { 'X-Credential': encodeCredential(nobody)!, 'X-Scopes': '*' };
    expect(await whoami(headers)).toMatchObject({ status: 401 });
  });

  test('is ignored when anybody else names one', async () => {
    const headers = { 'X-Tenant-ID': 'other', 'X-Credential': encodeCredential({ ...caller, actor: 'x' })! };
    expect(JSON.parse((await whoami(headers, raw)).text)).toEqual({
      tenant: 'acme',
      credential: { kind: 'key', id: 'key_1' },
    });
  });

  test.each([
    ['nothing', ''],
    ['other characters', 'a b'],
    ['no JSON', 'bm9uZQ'],
    ['null', encoded(null)],
    ['a root credential', encoded({ ...caller, credential: { kind: 'root', id: 'root' } })],
    ['an anonymous one', encoded({ ...caller, credential: { kind: 'anonymous', id: 'anonymous' } })],
    ['no actor', encoded({ ...caller, actor: undefined })],
    ['half a session', encoded({ ...caller, session: { id: 'sess_1' } })],
    ['no word about its tenant', encoded({ ...caller, confined: undefined })],
  ])('is refused when it is %s', async (_, header) => {
    expect(await whoami({ 'X-Tenant-ID': 'acme', 'X-Credential': header })).toMatchObject({
      status: 400,
      message: 'X-Credential: must be one that a server sent',
    });
  });
});
