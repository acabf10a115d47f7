/** Tests, step by step through the SDK, what a stateful mock remembers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlinth } from '../../../sdk/src/index.ts';
import { startMock, type Mock } from '../index.ts';

let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ port: 0, host: '127.0.0.1', stateful: true, log: { info() {} } });
});
afterAll(() => mock.close());

describe('step by step', () => {
  let count = 0;
  const plinthOf = (tenant = `t-${(count += 1)}`) =>
    createPlinth({ baseUrl: mock.url, token: 'any', retries: 0, headers: { 'x-tenant-id': tenant } });

  it('authz roles: made, listed, given permissions, changed, deleted', async () => {
    const { roles, permissions } = plinthOf().authz;
    const before = Date.now();
    const role = await roles.create({ body: { name: 'Night Shift', metadata: { floor: 2 } } });
    expect(role).toMatchObject({
      name: 'Night Shift',
      slug: 'night-shift',
      metadata: { floor: 2 },
      parent_id: null,
    });
    expect(role.id).toMatch(/^role_/);
    expect(Date.parse(role.created_at)).toBeGreaterThanOrEqual(before);
    expect(await roles.get({ roleId: role.id })).toEqual(role);
    expect((await roles.list()).map(({ id }) => id)).toEqual([role.id, 'role_01m7w4n5e0f7drekxj50y51wjg']);

    const permission = await permissions.create({ body: { resource: 'ward', action: 'enter' } });
    await roles.attachPermission({ roleId: role.id, body: { permission_id: permission.id } });
    expect(await roles.listPermissions({ roleId: role.id })).toEqual([permission]);
    await roles.detachPermission({ roleId: role.id, permissionId: permission.id });
    expect(await roles.listPermissions({ roleId: role.id })).toEqual([]);
    expect(await permissions.get({ permissionId: permission.id })).toEqual(permission);

    const changed = await roles.update({ roleId: role.id, body: { name: 'Day Shift' } });
    expect(changed).toMatchObject({
      id: role.id,
      name: 'Day Shift',
      metadata: { floor: 2 },
      slug: 'night-shift',
    });
    await roles.delete({ roleId: role.id });
    await expect(roles.get({ roleId: role.id })).rejects.toMatchObject({
      status: 404,
      message: 'role not found',
    });
    await expect(roles.delete({ roleId: role.id })).rejects.toMatchObject({ status: 404 });
  });

  it('auth organizations and users: members and teams live in their organization', async () => {
    const { organizations, members, teams, users } = plinthOf().auth;
    const user = await users.create({
      body: { app_id: 'default', email: 'grace@example.com', name: 'Grace' },
    });
    expect(await users.get({ userId: user.id })).toMatchObject({ email: 'grace@example.com', name: 'Grace' });
    const found = await users.list({ email: 'grace@example.com' });
    expect(found.users.map(({ id }) => id)).toEqual([user.id]);

    const one = await organizations.create({ body: { name: 'One', slug: 'one' } });
    const two = await organizations.create({ body: { name: 'Two', slug: 'two' } });
    const team = await teams.create({ orgId: one.id, body: { name: 'Core', slug: 'core' } });
    expect(team.org_id).toBe(one.id);
    expect((await teams.list({ orgId: one.id })).teams.map(({ id }) => id)).toEqual([team.id]);
    expect((await teams.list({ orgId: two.id })).teams).toEqual([]);
    await expect(teams.get({ orgId: two.id, teamId: team.id })).rejects.toMatchObject({ status: 404 });
    const member = await members.add({ orgId: one.id, body: { user_id: user.id, role: 'admin' } });
    expect(member).toMatchObject({ org_id: one.id, user_id: user.id, role: 'admin' });
    await organizations.delete({ orgId: one.id });
    await expect(members.list({ orgId: one.id })).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it('billing plans and customers: pages, actions, two names for one record', async () => {
    const { plans, customers } = plinthOf().billing;
    for (const name of ['Solo', 'Duo', 'Trio']) await plans.create({ body: { name, currency: 'eur' } });
    const page = await plans.list({ limit: 2 });
    expect(page.data.map(({ name }) => name)).toEqual(['Trio', 'Duo']);
    expect(page.pagination).toEqual({ total: 4, limit: 2, offset: 0, has_more: true });
    expect((await plans.list({ limit: 2, offset: 2 })).pagination.has_more).toBe(false);

    const duo = await plans.get({ plan: 'duo' });
    expect(await plans.get({ plan: duo.id })).toEqual(duo);
    await plans.archive({ plan: duo.id });
    expect(await plans.get({ plan: 'duo' })).toMatchObject({ id: duo.id, name: 'Duo', status: 'archived' });
    expect((await plans.list({ status: 'archived' })).data.map(({ id }) => id)).toEqual([duo.id]);
    await plans.activate({ plan: duo.id });
    expect(await plans.get({ plan: 'duo' })).toMatchObject({ status: 'active' });

    const customer = await customers.create({ body: { name: 'Beta', email: 'pay@beta.example' } });
    expect(await customers.getByEmail({ email: 'pay@beta.example' })).toEqual(customer);
    await expect(
      customers.create({ body: { name: 'Beta', email: 'pay@beta.example' } }),
    ).rejects.toMatchObject({
      status: 409,
    });
    await customers.delete({ id: customer.id });
    await expect(customers.invoices({ id: customer.id })).rejects.toMatchObject({ status: 404 });
  });

  it('webhooks endpoints: the secret is told once, disabling holds until enabling', async () => {
    const { endpoints } = plinthOf().webhooks;
    const made = await endpoints.create({ body: { url: 'https://x.example/hook', event_types: ['a.b'] } });
    expect(made).toMatchObject({ url: 'https://x.example/hook', event_types: ['a.b'] });
    expect(made.secret).toMatch(/./);
    expect(await endpoints.get({ id: made.id })).not.toHaveProperty('secret');
    const { enabled } = await endpoints.disable({ id: made.id });
    expect([enabled, (await endpoints.get({ id: made.id })).enabled]).toEqual([false, false]);
    expect(await endpoints.enable({ id: made.id })).toMatchObject({ id: made.id, enabled: true });
    await expect(endpoints.test({ id: 'ep_01h455vb4pex5vsknk084sn099' })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('jobs queues: put makes and changes', async () => {
    const { queues } = plinthOf().jobs;
    expect(await queues.put({ name: 'nightly', body: { max_concurrency: 3 } })).toMatchObject({
      name: 'nightly',
      max_concurrency: 3,
    });
    await queues.put({ name: 'nightly', body: { paused: true } });
    expect(await queues.get({ name: 'nightly' })).toMatchObject({ max_concurrency: 3, paused: true });
    expect((await queues.list()).map(({ name }) => name)).toEqual(['nightly', 'emails']);
  });

  it('agents: by name or id, their runs below them', async () => {
    const { agents, runs } = plinthOf().agents;
    const agent = await agents.create({ body: { name: 'clerk', system_prompt: 'Be brief.' } });
    expect(await agents.get({ name: agent.id })).toEqual(agent);
    const run = await agents.createRun({ name: 'clerk', body: { input: 'Hello?' } });
    expect(run).toMatchObject({ agent_id: agent.id, agent_name: 'clerk', input: 'Hello?' });
    expect((await agents.listRuns({ name: 'clerk' })).map(({ id }) => id)).toEqual([run.id]);
    expect((await agents.listRuns({ name: 'support' })).map(({ id }) => id)).not.toContain(run.id);
    expect(await runs.get({ id: run.id })).toEqual(run);
    await expect(agents.create({ body: { name: 'clerk' } })).rejects.toMatchObject({
      status: 409,
      code: 'ALREADY_EXISTS',
      message: 'agent "clerk" already exists',
    });
  });

  it('conflicts are told by their cause, of whatever kind the record is', async () => {
    const { billing, storage } = plinthOf();
    const causes = [
      [
        () => billing.plans.create({ body: { name: 'Solo', slug: 'solo', currency: 'eur' } }),
        'slug: already exists',
      ],
      [() => storage.buckets.create({ body: { name: 'wards' } }), 'bucket already exists'],
    ] as const;
    for (const [make, message] of causes) {
      await make();
      await expect(make()).rejects.toMatchObject({ status: 409, message });
    }
  });

  it('storage buckets: walked by a cursor in the body', async () => {
    const { buckets } = plinthOf().storage;
    for (const name of ['aaa', 'bbb']) await buckets.create({ body: { name } });
    const first = await buckets.list({ limit: 2 });
    expect(first.buckets.map(({ name }) => name)).toEqual(['aaa', 'bbb']);
    expect(first.truncated).toBe(true);
    const rest = await buckets.list({ limit: 2, cursor: first.cursor! });
    expect(rest).toMatchObject({ truncated: false, cursor: null });
    expect(rest.buckets.map(({ name }) => name)).toEqual(['photos']);
    expect(await buckets.update({ bucket: 'aaa', body: { quota_bytes: 5 } })).toMatchObject({
      quota_bytes: 5,
    });
    expect(await buckets.get({ bucket: 'aaa' })).toMatchObject({ name: 'aaa', quota_bytes: 5 });
  });

  it('storage objects: put makes what is missing, and tells its length and tag', async () => {
    const headers = { authorization: 'Bearer any', 'x-tenant-id': 'putting' };
    const url = `${mock.url}/storage/store/v1/buckets/photos/objects/2027/dog.txt`;
    expect((await fetch(url, { method: 'HEAD', headers })).status).toBe(404);
    const put = await fetch(url, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'text/plain' },
      body: 'woof!',
    });
    expect(put.status).toBe(201);
    expect(await put.json()).toMatchObject({ key: '2027/dog.txt', size: 5, content_type: 'text/plain' });
    const head = await fetch(url, { method: 'HEAD', headers });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '5']);
    expect(head.headers.get('etag')).toBe(put.headers.get('etag'));
    const got = await fetch(url, { headers });
    expect([await got.text(), got.headers.get('content-type')]).toEqual(['woof!', 'text/plain']);
    expect(got.headers.get('content-length')).toBe('5');
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(204);
    expect((await fetch(url, { headers })).status).toBe(404);
  });

  it('retrieval collections: walked while they are deleted, documents below them', async () => {
    const { collections, documents } = plinthOf().retrieval;
    for (let index = 0; index < 5; index += 1) await collections.create({ body: { name: `c-${index}` } });
    const { id } = (await collections.list({ limit: 1 }))[0]!;
    const { document_id } = await documents.create({
      collectionId: id,
      body: { title: 'Leave', content: 'Twenty days.' },
    });
    expect(await documents.get({ documentId: document_id })).toMatchObject({
      collection_id: id,
      title: 'Leave',
    });
    expect((await documents.list({ collectionId: id })).map((one) => one.id)).toEqual([document_id]);
    const walked: string[] = [];
    for await (const { id: collectionId, name } of collections.list({ limit: 2 })) {
      walked.push(name);
      await collections.delete({ collectionId });
    }
    expect(walked).toEqual(['c-4', 'c-3', 'c-2', 'c-1', 'c-0', 'help-center']);
    expect(await collections.list()).toEqual([]);
  });

  it('tenants do not see each other, and have the examples each', async () => {
    const [one, other] = [plinthOf('one').keys, plinthOf('other').keys];
    const { key } = await one.keys.create({ body: { name: 'Mine' } });
    expect(key.tenant_id).toBe('one');
    await expect(other.keys.get({ keyId: key.id })).rejects.toMatchObject({ status: 404 });
    expect(await other.keys.get({ keyId: 'key_01m7w6qgepfq9s8vbpxf0zva73' })).toMatchObject({
      tenant_id: 'other',
    });
  });

  it('a preference still chooses the answer, and changes nothing', async () => {
    const plinth = plinthOf('preferring');
    const refusing = createPlinth({
      baseUrl: mock.url,
      token: 'any',
      retries: 0,
      headers: { 'x-tenant-id': 'preferring', prefer: 'code=409' },
    });
    await expect(refusing.authz.roles.create({ body: { name: 'Guest' } })).rejects.toMatchObject({
      status: 409,
    });
    expect(await plinth.authz.roles.list()).toHaveLength(1);
  });
});
