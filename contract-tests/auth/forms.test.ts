import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';
import { newEmail, tenantWithApp } from './people.ts';

const company = { key: 'company', label: 'Company', type: 'text' as const, validation: { required: true } };
const signup = { active: true, fields: [company] };
const formId = 'form_01m7w6qgepfq9s8varjyrqmf99';

contract('auth Forms', (api) => {
  it('create: 201 with the form as stored', async () => {
    const { auth } = (await tenantWithApp(api)).plinth;
    expect(await auth.forms.create({ body: signup })).toMatchObject({ active: true, version: 1 });
  });

  it('list and active: 200', async () => {
    const tenant = await tenantWithApp(api);
    const { forms } = tenant.plinth.auth;
    await forms.create({ body: signup });
    expect((await forms.list()).forms).toHaveLength(1);
    expect(await forms.active()).toMatchObject({ active: true });
  });

  it('active: 404 when no form is', async () => {
    const tenant = await tenantWithApp(api);
    await tenant.refused(404, 'active form not found', ({ auth }) => auth.forms.active());
  });

  it('active: 403 in a tenant without an app', () =>
    api
      .tenant()
      .refused(403, 'the tenant has no such app: see POST /apps', ({ auth }) => auth.forms.active()));

  it('create and list: 404 in an app that does not exist', async () => {
    const app_id = 'nowhere';
    const operator = api.operator();
    await operator.refused(404, 'app not found', ({ auth }) => auth.forms.create({ body: { app_id } }));
    await operator.refused(404, 'app not found', ({ auth }) => auth.forms.list({ app_id }));
  });

  describe('one form', () => {
    it('200 when it is changed and deleted', async () => {
      const { forms } = (await tenantWithApp(api)).plinth.auth;
      const { id } = await forms.create({ body: { ...signup, active: false } });
      expect(await forms.update({ formId: id, body: { active: true } })).toMatchObject({ active: true });
      expect(await forms.delete({ formId: id })).toEqual({ status: 'deleted' });
    });

    it('404 when it does not exist', async () => {
      const tenant = await tenantWithApp(api);
      await tenant.refused(404, 'form not found', ({ auth }) =>
        auth.forms.update({ formId, body: { active: true } }),
      );
      await tenant.refused(404, 'form not found', ({ auth }) => auth.forms.delete({ formId }));
    });
  });
});

behaviour('auth Forms', (api) => {
  it('a sign-up that does not fulfil the form is told what is missing', async () => {
    const tenant = await tenantWithApp(api);
    const { app_id } = await tenant.plinth.auth.forms.create({ body: signup });
    const answered = await tenant
      .anonymous()
      .refused(400, /^metadata\.company: /, ({ auth }) =>
        auth.accounts.signup({ body: { email: newEmail(), password: 'seven brass wheels', app_id } }),
      );
    expect(answered).toMatchObject({ reason: 'form_invalid' });
  });

  it('create: 409 beyond as many as an app may have', async () => {
    const tenant = await tenantWithApp(api);
    for (let made = 0; made < 200; made += 10)
      await Promise.all(Array.from({ length: 10 }, () => tenant.plinth.auth.forms.create({ body: {} })));
    await tenant.refused(409, 'limit reached: 200 forms', ({ auth }) => auth.forms.create({ body: {} }));
  });
});
