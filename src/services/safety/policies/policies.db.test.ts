import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools, withAddress } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['safety', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

const acme = { tenant: 'acme' };
/** Makes an API key of a tenant. */
async function key(tenant: string, scopes: string[]) {
  const { body } = await server.request('POST', '/keys/v1/keys', {
    ...{ tenant },
    body: { name: 'key', scopes },
  });
  return { token: null, apiKey: body.raw_key as string };
}

const rule = (condition: string, action: string) => ({ check_type: 'any', condition, action });

describe('policies', () => {
  it('apply to all tenants, or to those to which they are assigned, from the next scan on', async () => {
    const body = { name: 'strict', rules: [{ ...rule('pii_detected', 'block'), error_message: 'No data.' }] };
    const { id } = await api.create('policies', body);
    expect((await api.scanInput(withAddress, {}, acme)).decision).toBe('redact');
    await api.send('POST', `/policies/${id}/assign`, acme);
    const blocked = await api.scanInput(withAddress, {}, acme);
    expect(blocked).toMatchObject({ decision: 'block', response: 'No data.', policies_used: ['strict'] });
    expect((await api.scanInput(withAddress)).policies_used).toEqual([]);
    expect(await api.send('GET', '/policies?tenant_id=acme')).toHaveLength(1);
    expect(await api.send('GET', '/policies?tenant_id=default')).toEqual([]);
    await api.send('POST', `/policies/${id}/unassign`, acme);
    expect((await api.scanInput(withAddress, {}, acme)).decision).toBe('redact');
    await api.send('POST', `/policies/${id}/assign`, { body: { tenant_id: 'acme' } });
    await api.send('PUT', `/policies/${id}`, { body: { enabled: false } });
    expect((await api.scanInput(withAddress, {}, acme)).decision).toBe('redact');
    await api.send('DELETE', `/policies/${id}`);
    expect((await api.refusal('GET', `/policies/${id}/assignments`))[0]).toBe(404);
  });

  it('choose the profile unless the request does, and the app’s default goes before the built-in one', async () => {
    const used = async (body: object = {}) => (await api.scanInput('hello', body)).profile_used;
    expect(await used()).toBe('default');
    const own = await api.create('profiles', { name: 'default' });
    expect((await api.scanInput(withAddress)).decision).toBe('allow');
    const chosen = await api.create('profiles', { name: 'chosen' });
    const last = await api.create('policies', {
      name: 'z',
      scope_level: 'app',
      profile: 'paranoid',
      priority: 1,
    });
    const first = await api.create('policies', { name: 'a', scope_level: 'app', profile: 'chosen' });
    expect([await used(), await used({ profile: 'cautious' })]).toEqual(['chosen', 'cautious']);
    await api.send('PUT', `/profiles/${chosen.id}`, { body: { enabled: false } });
    expect(await used()).toBe('paranoid');
    expect((await api.refusal('POST', '/scan/input', { body: { text: 'x', profile: 'chosen' } }))[0]).toBe(
      400,
    );
    for (const { id } of [last, first]) await api.send('DELETE', `/policies/${id}`);
    await api.send('DELETE', `/profiles/${own.id}`);
    expect((await api.scanInput(withAddress)).decision).toBe('redact');
  });

  it('keep the profile that they choose from who cannot take them away', async () => {
    const scans = await key('kept', ['safety:write']);
    const admin = await key('kept', ['safety:admin', 'safety:write']);
    const body = { text: 'hello', profile: 'permissive' };
    const used = async (credential: object) =>
      (await api.send('POST', '/scan/input', { ...credential, body })).profile_used as string;
    const refused = (credential: object, direction = 'input') =>
      api.refusal('POST', `/scan/${direction}`, { ...credential, body });
    const refusal = [403, 'profile: the policy "keeps" chooses "paranoid" here'];

    // Without a policy the request chooses.
    expect(await used(scans)).toBe('permissive');
    const { id } = await api.create('policies', { name: 'keeps', profile: 'paranoid' });
    await api.send('POST', `/policies/${id}/assign`, admin);
    expect([await refused(scans), await refused(scans, 'output')]).toEqual([refusal, refusal]);
    expect((await api.scanInput('hello', {}, scans)).profile_used).toBe('paranoid');
    expect((await api.scanInput('hello', { profile: 'paranoid' }, scans)).profile_used).toBe('paranoid');
    // Who assigned it may leave it, as it may take it away.
    expect(await used(admin)).toBe('permissive');

    // The operator makes the assignment its own.
    const target = { body: { tenant_id: 'kept' } };
    await api.send('POST', `/policies/${id}/assign`, target);
    expect((await api.refusal('POST', `/policies/${id}/assign`, target))[0]).toBe(409);
    expect(await refused(admin)).toEqual(refusal);
    expect(await api.refusal('POST', `/policies/${id}/unassign`, admin)).toEqual([
      403,
      'policy was assigned by the operator',
    ]);
    expect((await api.scanInput('hello', {}, scans)).profile_used).toBe('paranoid');
    await api.send('POST', `/policies/${id}/unassign`, target);
    expect(await used(scans)).toBe('permissive');

    // What applies to the whole app is the operator’s.
    await api.send('PUT', `/policies/${id}`, { body: { scope_level: 'app' } });
    expect([await refused(scans), await refused(admin)]).toEqual([refusal, refusal]);
    await api.send('DELETE', `/policies/${id}`);
  });

  it('that root assigns where a header names the tenant are the operator’s', async () => {
    const admin = await key('named', ['safety:admin', 'safety:write']);
    const { id } = await api.create('policies', { name: 'named', profile: 'paranoid' });
    const root = { tenant: 'named' };
    await api.send('POST', `/policies/${id}/assign`, root);
    const body = { text: 'hello', profile: 'permissive' };
    expect((await api.refusal('POST', '/scan/input', { ...admin, body }))[0]).toBe(403);
    expect((await api.scanInput('hello', { profile: 'permissive' }, root)).profile_used).toBe('permissive');
    expect((await api.refusal('POST', `/policies/${id}/unassign`, admin))[0]).toBe(403);
    const spoken = { ...root, headers: { 'X-User-ID': 'usr_1' } };
    expect((await api.refusal('POST', '/scan/input', { ...spoken, body }))[0]).toBe(403);
    await api.send('POST', `/policies/${id}/unassign`, root);
    await api.send('DELETE', `/policies/${id}`);
  });

  it('that were assigned by a tenant’s admin are the admin’s to remove', async () => {
    const admin = await key('removes', ['safety:admin']);
    const { id } = await api.create('policies', { name: 'removable' });
    await api.send('POST', `/policies/${id}/assign`, admin);
    await api.send('POST', `/policies/${id}/unassign`, admin);
    expect((await api.refusal('POST', `/policies/${id}/unassign`, admin))[0]).toBe(404);
    await api.send('DELETE', `/policies/${id}`);
  });

  it('in force together all apply, in the order of their priorities and names', async () => {
    const blocks = (error_message: string) => [{ ...rule('pii_detected', 'block'), error_message }];
    const made = [
      await api.create('policies', { name: 'y', scope_level: 'app', rules: blocks('Y.') }),
      await api.create('policies', { name: 'x', scope_level: 'app', rules: [rule('true', 'flag')] }),
      await api.create('policies', { name: 'z', scope_level: 'app', priority: -1, rules: blocks('Z.') }),
    ];
    const scan = await api.scanInput(withAddress);
    expect(scan).toMatchObject({ decision: 'block', response: 'Z.', policies_used: ['z', 'x', 'y'] });
    expect(scan.findings.filter(({ layer }) => layer === 'policy').map(({ source }) => source)).toEqual([
      'z',
      'x',
      'y',
    ]);
    // No policy takes back what another one decided.
    expect(await api.scanInput('hello')).toMatchObject({ decision: 'flag', policies_used: ['z', 'x', 'y'] });
    for (const { id } of made) await api.send('DELETE', `/policies/${id}`);
  });

  it.each([
    [{ rules: [rule('score >', 'block')] }, /^rules\[0\]\.condition: /],
    [{ profile: 'nobody' }, /^profile: no profile has this name$/],
    [{ rules: [rule("severity > 'bogus'", 'block')] }, /^rules\[0\]\.condition: severity is info, /],
    [{ rules: [rule("decision == 'blocked'", 'block')] }, /^rules\[0\]\.condition: decision is allow, /],
  ])('refuse %j', async (body, error) => {
    const [status, message] = await api.refusal('POST', '/policies', { body: { name: 'refused', ...body } });
    expect([status, message]).toEqual([400, expect.stringMatching(error)]);
  });

  it('of an earlier release whose condition can never be true are still read, and can be disabled', async () => {
    const { id } = await api.create('policies', {
      name: 'old',
      scope_level: 'app',
      rules: [rule('true', 'flag')],
    });
    await server.db.sql`
      update safety.rule set body = replace(body::text, '"true"', ${`"decision == 'blocked' or score > 0"`})::json
      where id = ${id}`;
    expect((await api.scanInput(withAddress)).decision).toBe('redact');
    const put = (body: object) => api.send('PUT', `/policies/${id}`, { body });
    expect(await put({ description: 'kept' })).toMatchObject({ description: 'kept' });
    expect((await api.scanInput(withAddress)).policies_used).toEqual(['old']);
    expect((await put({ enabled: false })).enabled).toBe(false);
    const again = { body: { rules: [rule("decision == 'blocked'", 'flag')] } };
    expect((await api.refusal('PUT', `/policies/${id}`, again))[0]).toBe(400);
    await api.send('DELETE', `/policies/${id}`);
  });

  it('of another tenant are only the operator’s to assign', async () => {
    const { id } = await api.create('policies', { name: 'foreign' });
    const target = { body: { tenant_id: 'other' }, ...acme };
    expect((await api.refusal('POST', `/policies/${id}/assign`, target))[0]).toBe(403);
  });
});
