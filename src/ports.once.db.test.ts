import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asOperator, type Asker, withinTenant } from './http/asker.ts';
import type { Context } from './http/context.ts';
import type { PortsOf } from './http/port.ts';
import { madeUp } from './testing/made-up-service.ts';
import { type TestRequest, type TestServer, testServer } from './testing/server.ts';

const asks = { authz: 'required', keys: 'required', safety: 'optional' } as const;
type Ask = (ports: PortsOf<typeof asks>, context: Context) => unknown;

/** The question that the made-up service asks when it receives a request. */
let ask: Ask;

const asker = madeUp('sync', asks, {
  Info_get: async (ports, _, context) => (await ask(ports, context)) ?? null,
});

let tenants = 0;

describe.each(['in this process', 'on another server'])('a service %s', (where) => {
  let servers: TestServer[];
  let server: TestServer;
  /** The server of the services that are asked. */
  let asked: TestServer;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = { write: (line: string) => void lines.push(line) };
    asked = await testServer({
      services: ['authz', 'keys'],
      ...(where === 'in this process' ? { modules: [asker], strict: false } : {}),
      log,
    });
    server = asked;
    servers = [asked];
    if (where === 'in this process') return;
    const remote = (name: string) => ({ url: `${asked.url}/${name}`, token: asked.rootToken });
    server = await testServer({
      services: [],
      modules: [asker],
      strict: false,
      remotes: { authz: remote('authz'), keys: remote('keys') },
    });
    servers = [server, asked];
  });
  afterAll(async () => {
    for (const one of servers) await one.close();
  });

  let tenant: string;
  beforeEach(() => {
    tenants += 1;
    tenant = `acme-${tenants}`;
  });

  /** Sends a request to the made-up service, which then asks the given question. */
  async function through(asks: Ask, request: TestRequest = { tenant }) {
    ask = asks;
    const { status, body, headers } = await server.request('GET', '/sync/info', request);
    return { status, body, headers };
  }

  async function keyWith(scopes: string[]): Promise<TestRequest> {
    const { body } = await asked.request('POST', '/keys/v1/keys', { tenant, body: { name: 'Key', scopes } });
    return { apiKey: body.raw_key };
  }

  const roleIn = async (tenant: string, name = 'Editor') =>
    (await asked.request('POST', '/authz/v1/roles', { tenant, body: { name } })).body;

  it("is asked in the caller's tenant, and answers about no other", async () => {
    const made = await through(({ authz }, context) =>
      authz.roles.create({ body: { name: 'Editor' } }, context),
    );
    expect([made.status, made.body.tenant_id, made.body.name]).toEqual([200, tenant, 'Editor']);
    expect((await asked.request('GET', `/authz/v1/roles/${made.body.id}`, { tenant })).status).toBe(200);
    const theirs = await roleIn(`${tenant}-other`);
    const refused = await through(({ authz }, context) => authz.roles.get({ roleId: theirs.id }, context));
    expect([refused.status, refused.body]).toEqual([404, { error: 'role not found' }]);
  });

  it('sets nothing in the response of the one who asks', async () => {
    const made = await through(({ authz }, context) =>
      authz.roles.create({ body: { name: 'Editor' } }, context),
    );
    expect([made.status, made.headers.get('x-revision')]).toEqual([200, null]);
  });

  it("is asked with the caller's rights", async () => {
    const reader = await keyWith(['sync:read']);
    const list: Ask = async ({ authz }, context) => authz.roles.list({}, context);
    const refused = await through(list, reader);
    expect([refused.status, refused.body]).toEqual([403, { error: 'missing scope authz:read' }]);
    expect((await through(list, await keyWith(['sync:read', 'authz:read']))).status).toBe(200);
  });

  it("grants no more than the caller's rights", async () => {
    const issue =
      (scopes: string[]): Ask =>
      ({ keys }, context) =>
        keys.keys.create({ body: { name: 'Own', scopes } }, context);
    const caller = await keyWith(['sync:read', 'keys:write']);
    const refused = await through(issue(['authz:read']), caller);
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('authz:read')]);
    const issued = await through(issue(['keys:write']), caller);
    expect([issued.status, issued.body.key?.tenant_id]).toEqual([200, tenant]);
  });

  it('is asked by the platform with every right, inside one tenant', async () => {
    const caller = await keyWith(['sync:read']);
    await roleIn(tenant, 'Mine');
    await roleIn(`${tenant}-other`, 'Theirs');
    const { body } = await through(
      async ({ authz }, context) => authz.roles.list({}, withinTenant(context)),
      caller,
    );
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['Mine']);
    const named = await through(
      ({ keys }, context) =>
        keys.keys.create({ body: { name: 'a', tenant_id: 'other' } as never }, withinTenant(context)),
      caller,
    );
    expect([named.status, named.body]).toEqual([403, { error: "tenant_id: not the caller's own" }]);
  });

  it('is asked by the operator across tenants, only when that is said', async () => {
    const { body } = await asked.request('POST', '/keys/v1/keys', {
      tenant: `${tenant}-other`,
      body: { name: 'Theirs' },
    });
    const validate =
      (as: (context: Context) => Asker): Ask =>
      async ({ keys }, context) =>
        (await keys.keys.validate({ body: { raw_key: body.raw_key } }, as(context))).valid;
    expect((await through(validate(asOperator))).body).toBe(true);
    expect((await through(validate(withinTenant))).body).toBe(false);
    expect((await through(validate((context) => context))).body).toBe(false);
    expect(
      (
        await through(
          validate((context) => context),
          {},
        )
      ).body,
    ).toBe(true);
  });

  it('fills in what the contract says about absent members', async () => {
    const { body } = await through(({ keys }, context) => keys.keys.create({ body: { name: 'a' } }, context));
    expect(body.key).toMatchObject({ prefix: 'sk', environment: 'live', scopes: [], policy_id: null });
  });

  it.each<[what: string, ask: Ask, status: number, message: RegExp]>([
    [
      'an unknown member',
      ({ authz }, context) => authz.roles.create({ body: { name: 'a', color: 'red' } as never }, context),
      400,
      /^color: unknown$/,
    ],
    [
      'a text that is too long',
      ({ authz }, context) => authz.roles.create({ body: { name: 'x'.repeat(10_000) } }, context),
      400,
      /^name: /,
    ],
    [
      'a character that cannot be stored',
      ({ authz }, context) => authz.roles.create({ body: { name: 'a\0b' } }, context),
      400,
      /^name: must not contain U\+0000$/,
    ],
    [
      'a body that is too large',
      ({ authz }, context) => authz.roles.create({ body: { name: 'x'.repeat(9 * 1024 ** 2) } }, context),
      413,
      /^body: larger than \d+ bytes$/,
    ],
    [
      'a malformed id',
      ({ authz }, context) => authz.roles.get({ roleId: 'nonsense' }, context),
      400,
      /^roleId: /,
    ],
    [
      'an unknown parameter',
      async ({ authz }, context) => authz.roles.list({ colour: 'red' } as never, context),
      400,
      /^colour: unknown$/,
    ],
    [
      'a limit out of bounds',
      async ({ authz }, context) => authz.roles.list({ limit: 1_000_000 }, context),
      400,
      /^limit: /,
    ],
  ])('refuses %s as it does on the wire', async (_, asks, status, message) => {
    const refused = await through(asks);
    expect([refused.status, refused.body.error]).toEqual([status, expect.stringMatching(message)]);
  });

  it('answers a list page after page', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await roleIn(tenant, name);
    const { body } = await through(async ({ authz }, context) => {
      const names: string[] = [];
      for await (const { name } of authz.roles.list({ limit: 2 }, context)) names.push(name);
      return names;
    });
    expect(body.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('answers nothing where nothing is documented', async () => {
    const { id } = await roleIn(tenant);
    const deleted = await through(({ authz }, context) => authz.roles.delete({ roleId: id }, context));
    expect([deleted.status, deleted.body]).toEqual([200, null]);
  });

  it('streams events until the loop is left', async () => {
    const { body: issued } = await asked.request('POST', '/keys/v1/keys', { tenant, body: { name: 'a' } });
    let seen = false;
    const streamed = through(async ({ keys }, context) => {
      for await (const { event, data } of keys.keys.changes({}, asOperator(context))) {
        seen = true;
        return { event, data };
      }
    });
    await expect
      .poll(async () => {
        await asked.request('POST', `/keys/v1/keys/${issued.key.id}/suspend`, { tenant });
        await asked.request('POST', `/keys/v1/keys/${issued.key.id}/reactivate`, { tenant });
        return seen;
      })
      .toBe(true);
    expect((await streamed).body).toMatchObject({ event: 'change', data: { seq: expect.any(Number) } });
  });

  it.each<[who: string, as: (context: Context) => Asker]>([
    ['caller', (context) => context],
    ['platform', withinTenant],
    ['operator', asOperator],
  ])('knows the request by its id, whether the %s asks', async (who, as) => {
    const id = `trace-${who}-${tenant}`;
    const found = await through(({ authz }, context) => authz.roles.list({}, as(context)).response(), {
      tenant,
      headers: { 'X-Request-ID': id },
    });
    expect(found.status).toBe(200);
    expect(lines.filter((line) => line.includes(`"requestId":"${id}"`))).toHaveLength(1);
  });

  it('that is optional and nowhere has no port', async () => {
    expect((await through(({ safety }) => safety === undefined)).body).toBe(true);
  });
});
