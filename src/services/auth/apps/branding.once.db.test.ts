import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Brand } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newSlug, otherApp, tools } from '../testing/index.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = tools(server);
});
afterAll(() => server.close());
afterEach(() => server.db.sql`delete from auth.branding`);

const create = (body: object = {}): Promise<Brand> => api.send('POST', '/branding', { body });

async function organization(): Promise<string> {
  const id = newId('org');
  await server.db.sql`
    insert into auth.organizations (id, tenant_id, app_id, name, slug)
    values (${id}, 'default', 'default', 'Org', ${newSlug()})`;
  return id;
}

describe('the branding of an app', () => {
  it('has the defaults of the contract', async () => {
    const brand = await create();
    expect(brand).toEqual({
      id: expect.stringMatching(/^brnd_/),
      app_id: 'default',
      org_id: null,
      logo_url: null,
      primary_color: '#18181b',
      background_color: '#ffffff',
      accent_color: '#7c3aed',
      color_scheme: 'system',
      font_family: 'system-ui, sans-serif',
      company_name: '',
      tagline: '',
      custom_css: '',
      created_at: expect.any(String),
      updated_at: brand.created_at,
    });
    expect(await api.send('GET', '/branding?app_id=default', { token: null })).toEqual(brand);
    expect(await api.send('GET', '/client-config?app_id=default', { token: null })).toMatchObject({
      branding: brand,
    });
  });

  it('is one, also when many are made at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('POST', '/auth/v1/auth/branding', { body: {} })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    expect(await api.refusal('POST', '/branding', { body: {} })).toEqual([409, 'branding already exists']);
  });

  it.each([
    [{ primary_color: 'red' }, 'primary_color: must match ^#[0-9a-fA-F]{6}$'],
    [{ custom_css: 'a { background: url(x) }' }, 'custom_css: url() is not allowed'],
    [{ custom_css: '@import "x"' }, 'custom_css: @import is not allowed'],
    [
      { custom_css: 'a { background: image-set("https://e.example" 1x) }' },
      'custom_css: image-set() is not allowed',
    ],
    [{ custom_css: 'a { position: fixed }' }, 'custom_css: position is not allowed'],
    [{ logo_url: 'javascript:alert(1)' }, 'logo_url: must be a URL like https://app.example.com/'],
    [{ logo_url: 'https://*.example.com/a.png' }, 'logo_url: must not hold a wildcard'],
    [{ font_family: 'x; }' }, 'font_family: must be names of fonts, separated by commas'],
    [{ company_name: 'Bank\u202e' }, 'company_name: must not contain the invisible character U+202E'],
    [{ tagline: 'Safe\u200b' }, 'tagline: must not contain the invisible character U+200B'],
    [{ org_id: 'org_01m7w6qgepfq9s8v9m3zmg852z' }, 'org_id: no such organization'],
  ])('%j is a 400', async (body, message) => {
    const [status, error] = await api.refusal('POST', '/branding', { body });
    expect([status, error]).toEqual([400, message]);
  });

  it('is changed member by member; what was read can be written back', async () => {
    const brand = await create({ company_name: 'Analytical Engines' });
    const path = `/branding/${brand.id}`;
    const changed: Brand = await api.send('PATCH', path, { body: { tagline: 'Since 1837' } });
    expect(changed).toMatchObject({ company_name: 'Analytical Engines', tagline: 'Since 1837' });
    expect(await api.send('PATCH', path, { body: changed })).toMatchObject({ tagline: 'Since 1837' });
    expect(await api.refusal('PATCH', path, { body: { org_id: await organization() } })).toEqual([
      400,
      'org_id: cannot be changed',
    ]);
  });

  it('that is deleted is gone', async () => {
    const { id } = await create();
    expect(await api.send('DELETE', `/branding/${id}`)).toEqual({ status: 'deleted' });
    expect(await api.refusal('GET', '/branding?app_id=default', { token: null })).toEqual([
      404,
      'branding not found',
    ]);
  });
});

it("an organization's branding comes before its app's, which stands in for it", async () => {
  const org = await organization();
  const app = await create({ company_name: 'App' });
  expect(await api.send('GET', `/branding?org_id=${org}`, { token: null })).toEqual(app);
  const own = await create({ org_id: org, company_name: 'Org' });
  expect(await api.send('GET', `/branding?org_id=${org}`, { token: null })).toEqual(own);
  expect(await api.send('GET', '/branding?app_id=default', { token: null })).toEqual(app);
});

it("another app's branding is answered as one that does not exist", async () => {
  const { id } = await create();
  for (const { tenant, id: app } of [await otherApp(server), await otherApp(server, 'default')]) {
    const headers = { 'X-App-ID': app };
    for (const [method, body] of [
      ['PATCH', { tagline: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const ask = (brand: string) =>
        server.request(method, `/auth/v1/auth/branding/${brand}`, {
          tenant,
          headers,
          ...(body && { body }),
        });
      const [theirs, nobodys] = [await ask(id), await ask('brnd_01m7w6qgepfq9s8vb5cppqajgz')];
      expect([theirs.status, theirs.text]).toEqual([404, nobodys.text]);
    }
  }
});
