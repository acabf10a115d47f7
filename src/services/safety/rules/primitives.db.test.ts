import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { examples, type Path, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['safety'] });
  api = tools(server);
});
afterAll(() => server.close());

const paths = Object.keys(examples) as Path[];
/** The paths as the founding document writes them. */
const literal = { awareness: 'awarenesss', boundaries: 'boundarys', reflexes: 'reflexs' } as const;
const literalOf = (path: Path) => (path in literal ? literal[path as keyof typeof literal] : path);

describe.each(paths)('%s', (path) => {
  it('are created, read, changed, put back and deleted, with rising revisions', async () => {
    const created = await api.create(path, { name: '  one ' });
    expect(created).toMatchObject({ name: 'one', enabled: true, app_id: 'default', metadata: {} });
    const url = `/${literalOf(path)}/${created.id}`;
    expect(await api.send('GET', url)).toEqual(created);
    const changed = await api.send('PUT', url, { body: { description: 'two', enabled: false } });
    expect(changed).toEqual({
      ...created,
      description: 'two',
      enabled: false,
      revision: changed.revision,
      updated_at: changed.updated_at,
    });
    expect(changed.revision).toBeGreaterThan(created.revision);
    expect(await api.send('PUT', url, { body: changed })).toMatchObject({ description: 'two' });
    const { headers, status } = await server.request('DELETE', `/safety/v1${url}`);
    expect([status, Number(headers.get('x-revision'))]).toEqual([204, changed.revision + 2]);
    expect(await api.refusal('GET', url)).toEqual([404, expect.stringMatching(/^\w+ not found$/)]);
  });

  it('have names of their own, also when 32 are created at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 32 }, () =>
        server.request('POST', `/safety/v1/${path}`, { body: { ...examples[path], name: 'twice' } }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 31 }, () => 409)]);
    const other = await api.create(path, { name: 'other' });
    const refused = await api.refusal('PUT', `/${path}/${other.id}`, { body: { name: 'twice' } });
    expect(refused).toEqual([409, expect.stringContaining('"twice" already exists')]);
    expect(await api.refusal('POST', `/${path}`, { body: { ...examples[path], name: 'builtin/x' } })).toEqual(
      [400, 'name: must not begin with builtin/'],
    );
  });

  it('are listed newest first at both paths, and the built-in ones apart', async () => {
    const all = await api.send('GET', `/${path}`);
    expect(await api.send('GET', `/${literalOf(path)}`)).toEqual(all);
    const times = all.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
    const [first, ...rest] = await api.send('GET', `/${path}?limit=1`);
    expect(rest).toEqual([]);
    const page = await server.request('GET', `/safety/v1/${path}?limit=1`);
    const cursor = page.headers.get('x-next-cursor')!;
    const [second] = await api.send('GET', `/${path}?limit=1&cursor=${cursor}`);
    expect([first.id, second.id]).toEqual([all[0].id, all[1].id]);
    const builtin = await api.send('GET', `/${path}?builtin=true`);
    for (const { id, app_id, revision } of builtin) {
      expect([app_id, revision]).toEqual(['', 0]);
      expect(await api.refusal('DELETE', `/${path}/${id}`)).toEqual([
        409,
        expect.stringContaining('built in'),
      ]);
      expect(await api.refusal('PUT', `/${path}/${id}`, { body: {} })).toEqual([
        409,
        expect.stringContaining('built in'),
      ]);
    }
  });

  it('of another app are as absent as those that never existed', async () => {
    const { id } = await api.create(path, { name: 'mine' });
    const never = `${id.slice(0, -4)}zzzz`;
    const other = { headers: { 'X-App-ID': 'other' } };
    const answers = await Promise.all(
      [id, never].map((one) => server.request('GET', `/safety/v1/${path}/${one}`, other)),
    );
    expect(answers[0]!.text).toBe(answers[1]!.text);
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect((await server.request('GET', `/safety/v1/${path}/scan_${id.slice(-26)}`)).status).toBe(400);
  });
});

describe('a primitive that is asked for', () => {
  it.each([
    ["'asked' in sources", 'policies'],
    ["pii_detected and (true or sources matches 'asked')", 'policies'],
    [{ type: 'on_finding', pattern: 'asked' }, 'reflexes'],
    [{ type: 'on_score', threshold: 0.5, pattern: 'asked' }, 'reflexes'],
  ] as const)('by %j keeps its name and stays', async (asking, path) => {
    const primitive = await api.create('values', { name: 'asked' });
    const user = await api.create(path, {
      name: 'asks',
      ...(typeof asking === 'string'
        ? { rules: [{ check_type: 'any', condition: asking, action: 'block' }] }
        : { triggers: [asking] }),
    });
    const refusal = [409, `in use by ${path === 'policies' ? 'policy' : 'reflex'} "asks"`];
    const rename = () => api.refusal('PUT', `/values/${primitive.id}`, { body: { name: 'renamed-asked' } });
    expect(await rename()).toEqual(refusal);
    expect(await api.refusal('DELETE', `/values/${primitive.id}`)).toEqual(refusal);
    await api.send('PUT', `/values/${primitive.id}`, { body: { severity: 'error' } });
    await api.send('DELETE', `/${path}/${user.id}`);
    expect((await rename())[0]).toBe(200);
    await api.send('DELETE', `/values/${primitive.id}`);
  });

  it('for a type that it makes up keeps that type', async () => {
    const detectors = ['badge', 'door'].map((name) => ({ name, keywords: [name] }));
    const primitive = await api.create('awareness', { name: 'places', focus: 'custom', detectors });
    const policy = await api.create('policies', {
      ...{ name: 'types' },
      rules: [{ check_type: 'any', condition: "'door' in types", action: 'flag' }],
    });
    const reflex = await api.create('reflexes', {
      name: 'hides',
      actions: [{ type: 'redact', target: 'badge' }],
    });
    const without = (gone: string) =>
      api.refusal('PUT', `/awareness/${primitive.id}`, {
        body: { detectors: detectors.filter(({ name }) => name !== gone) },
      });
    expect(await without('door')).toEqual([409, 'in use by policy "types"']);
    expect(await without('badge')).toEqual([409, 'in use by reflex "hides"']);
    await api.send('DELETE', `/policies/${policy.id}`);
    await api.send('DELETE', `/reflexes/${reflex.id}`);
    expect((await without('door'))[0]).toBe(200);
    await api.send('DELETE', `/awareness/${primitive.id}`);
  });

  it('by a policy of another app, or by a pattern of many, may change', async () => {
    const primitive = await api.create('values', { name: 'free' });
    const rules = (condition: string) => [{ check_type: 'any', condition, action: 'flag' }];
    const other = { headers: { 'X-App-ID': 'other' } };
    await api.create('policies', { name: 'elsewhere', rules: rules("'free' in sources") }, other);
    const { id } = await api.create('policies', { name: 'many', rules: rules("sources matches 'fr*'") });
    await api.send('PUT', `/values/${primitive.id}`, { body: { name: 'freed' } });
    await api.send('DELETE', `/values/${primitive.id}`);
    await api.send('DELETE', `/policies/${id}`);
  });
});

describe('profiles', () => {
  it('refer to primitives by name, and follow a new name', async () => {
    const attacks = await api.create('instincts', { name: 'old' });
    const profile = await api.create('profiles', {
      name: 'refers',
      instincts: [{ instinct_name: 'old', sensitivity: 'paranoid' }, { instinct_name: 'builtin/injection' }],
    });
    await api.send('PUT', `/instincts/${attacks.id}`, { body: { name: 'new' } });
    const read = await api.send('GET', `/profiles/${profile.id}`);
    expect(read.instincts).toEqual([
      { instinct_name: 'new', sensitivity: 'paranoid' },
      { instinct_name: 'builtin/injection', sensitivity: null },
    ]);
    expect(await api.refusal('DELETE', `/instincts/${attacks.id}`)).toEqual([
      409,
      'in use by profile "refers"',
    ]);
    const policy = await api.create('policies', { name: 'chooses', profile: 'refers' });
    expect(policy.profile).toBe('refers');
    expect(await api.refusal('DELETE', `/profiles/${profile.id}`)).toEqual([
      409,
      'in use by policy "chooses"',
    ]);
    await api.send('DELETE', `/policies/${policy.id}`);
    await api.send('DELETE', `/profiles/${profile.id}`);
    await api.send('DELETE', `/instincts/${attacks.id}`);
  });

  it('say whose phone numbers are found, and which primitives are disabled', async () => {
    const off = await api.create('values', { name: 'off', enabled: false });
    const profile = await api.create('profiles', {
      name: 'dialled',
      awareness: [{ awareness_name: 'builtin/pii' }],
      values: ['off'],
      phone_regions: ['DE', 'AT'],
    });
    const text = 'Tel. 030 901820. We have sold as many as 030 901821 pieces';
    const scan = await api.scanInput(text, { profile: 'dialled' });
    expect([scan.redacted, scan.skipped]).toEqual([
      'Tel. [PHONE_1]. We have sold as many as 030 901821 pieces',
      ['value/off: disabled'],
    ]);
    await api.send('PUT', `/profiles/${profile.id}`, { body: { phone_regions: [] } });
    expect(await api.scanInput(text, { profile: 'dialled' })).toMatchObject({ redacted: '' });
    await api.send('DELETE', `/profiles/${profile.id}`);
    await api.send('DELETE', `/values/${off.id}`);
  });

  it('of an earlier release have no phone numbers of their own', async () => {
    const { id } = await api.create('profiles', { name: 'older', phone_regions: ['DE'] });
    await server.db.sql`update safety.rule set body = (body::jsonb - 'phone_regions')::json where id = ${id}`;
    expect(await api.send('GET', `/profiles/${id}`)).toMatchObject({ name: 'older', phone_regions: [] });
    expect(await api.scanInput('Tel. 030 901820', { profile: 'older' })).toMatchObject({ decision: 'allow' });
    expect(await api.send('PUT', `/profiles/${id}`, { body: { description: 'x' } })).toMatchObject({
      phone_regions: [],
    });
    await api.send('DELETE', `/profiles/${id}`);
  });

  it.each([
    [{ phone_regions: ['DE', 'QQ'] }, 'phone_regions[1]: no country of this code has known phone numbers'],
    [{ phone_regions: ['DE', 'DE'] }, 'phone_regions[1]: named twice'],
    [{ instincts: [{ instinct_name: 'nobody' }] }, 'instincts[0].instinct_name: no instinct has this name'],
    [{ boundaries: ['nobody'] }, 'boundaries[0]: no boundary has this name'],
    [{ values: ['builtin/respect', 'builtin/respect'] }, 'values[1]: named twice'],
  ])('refuse %j', async (body, error) => {
    expect(await api.refusal('POST', '/profiles', { body: { name: 'refused', ...body } })).toEqual([
      400,
      error,
    ]);
  });
});
