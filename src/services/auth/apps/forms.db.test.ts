import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Form } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { otherApp, tools } from '../testing/index.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = tools(server);
});
afterAll(() => server.close());
afterEach(() => server.db.sql`delete from auth.forms`);

const company = { key: 'company', label: 'Company', type: 'text', validation: { required: true } };
const create = (body: object = {}): Promise<Form> =>
  api.send('POST', '/forms', { body: { fields: [company], ...body } });
const active = (): Promise<Form> => api.send('GET', '/forms/active?app_id=default', { token: null });

describe('a form', () => {
  it('has all its members, with the defaults of the contract', async () => {
    const form = await create();
    expect(form).toEqual({
      id: expect.stringMatching(/^form_/),
      app_id: 'default',
      form_type: 'signup',
      fields: [{ ...company, placeholder: '', description: '', default: null, options: [], order: 0 }],
      active: false,
      version: 1,
      created_at: expect.any(String),
      updated_at: form.created_at,
    });
    expect(await api.send('GET', '/forms')).toEqual({ forms: [form] });
  });

  it.each([
    [{ fields: [{ ...company, key: 'Company' }] }, 'fields[0].key: must match ^[a-z][a-z0-9_]{0,63}$'],
    [{ fields: [{ key: 'a', type: 'text' }] }, 'fields[0].label: required'],
    [
      { fields: [{ ...company, validation: { pattern: '(' } }] },
      'fields[0].validation.pattern: must be an RE2 expression with a program of at most 1000 instructions',
    ],
    [{ fields: [{ ...company, validaton: {} }] }, 'fields[0].validaton: unknown'],
    [{ form_type: 'survey' }, 'form_type: must be signup'],
  ])('%j is a 400', async (body, message) => {
    const [status, error] = await api.refusal('POST', '/forms', { body });
    expect([status, error]).toEqual([400, message]);
  });

  it('is changed member by member, and its version goes up', async () => {
    const form = await create();
    const path = `/forms/${form.id}`;
    const changed: Form = await api.send('PATCH', path, { body: { active: true } });
    expect(changed).toMatchObject({ active: true, version: 2, fields: form.fields });
    expect(await api.send('PATCH', path, { body: { ...changed, fields: [] } })).toMatchObject({
      fields: [],
      version: 3,
    });
    expect(await api.refusal('PATCH', path, { body: { app_id: 'app_other' } })).toEqual([
      400,
      'app_id: cannot be changed',
    ]);
  });

  it('that is deleted is gone', async () => {
    const { id } = await create({ active: true });
    expect(await api.send('DELETE', `/forms/${id}`)).toEqual({ status: 'deleted' });
    expect(await api.refusal('DELETE', `/forms/${id}`)).toEqual([404, 'form not found']);
    expect(await api.refusal('GET', '/forms/active?app_id=default', { token: null })).toEqual([
      404,
      'active form not found',
    ]);
  });

  it('is one of 200 at most', async () => {
    await server.db.sql`
      insert into auth.forms (id, tenant_id, app_id, form_type, fields, active)
      select 'form_' || n, 'default', 'default', 'signup', '[]', false from generate_series(1, 200) as n`;
    expect(await api.refusal('POST', '/forms', { body: {} })).toEqual([409, 'limit reached: 200 forms']);
  });
});

describe('the active form', () => {
  it('is the last one that was activated; also when many are at once, there is one', async () => {
    const first = await create({ active: true });
    const second = await create({ active: true });
    expect(await active()).toEqual(second);
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        api.send('PATCH', `/forms/${at % 2 === 0 ? first.id : second.id}`, { body: { active: true } }),
      ),
    );
    const { forms } = (await api.send('GET', '/forms')) as { forms: Form[] };
    expect(forms.filter((form) => form.active)).toHaveLength(1);
    expect(await active()).toEqual(forms.find((form) => form.active));
  });

  it('needs to know the app', async () =>
    expect(await api.refusal('GET', '/forms/active', { token: null })).toEqual([
      400,
      'app context required: send X-Publishable-Key header or app_id in the body',
    ]));

  it('is found by publishable key', async () => {
    const form = await create({ active: true });
    const [found] = await server.db.sql`select key from auth.publishable_keys where app_id = 'default'`;
    const headers = { 'X-Publishable-Key': found!['key'] as string };
    expect(await api.send('GET', '/forms/active', { token: null, headers })).toEqual(form);
    expect(
      await api.refusal('GET', '/forms/active', { token: null, headers: { 'X-Publishable-Key': 'pk_x' } }),
    ).toEqual([400, 'unknown publishable key']);
    expect(await api.refusal('GET', '/forms/active?app_id=app_other', { token: null, headers })).toEqual([
      400,
      'app_id does not match publishable key',
    ]);
  });
});

it("another app's form is answered as one that does not exist", async () => {
  const { id } = await create();
  for (const { tenant, id: app } of [await otherApp(server), await otherApp(server, 'default')]) {
    const headers = { 'X-App-ID': app };
    for (const [method, body] of [
      ['PATCH', { active: true }],
      ['DELETE', undefined],
    ] as const) {
      const ask = (form: string) =>
        server.request(method, `/auth/v1/auth/forms/${form}`, { tenant, headers, ...(body && { body }) });
      const [theirs, nobodys] = [await ask(id), await ask('form_01m7w6qgepfq9s8varjyrqmffz')];
      expect([theirs.status, theirs.text]).toEqual([404, nobodys.text]);
    }
    expect(await api.send('GET', '/forms', { tenant, headers })).toEqual({ forms: [] });
  }
});
