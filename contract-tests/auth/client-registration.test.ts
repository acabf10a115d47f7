/** Clients that register themselves. This is off by default, so a separate server allows it. */
import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { targetOf } from '../targets.ts';
import { ownServer } from '../own-server.ts';
import { tenantWithApp } from './people.ts';

const notebook = {
  client_name: 'Notebook',
  redirect_uris: ['https://notebook.example.com/callback'],
  token_endpoint_auth_method: 'none' as const,
};

contract('auth ClientRegistration', (api) => {
  it('register: 403 where clients cannot', async () => {
    const nobody = api.tenant().anonymous();
    await nobody.refused(403, 'access_denied', ({ auth }) =>
      auth.clientRegistration.register({ body: notebook }),
    );
  });
});

describe.skipIf(!targetOf('server'))('auth ClientRegistration where it is switched on', () => {
  const own = ownServer({ PLINTH_AUTH_CLIENT_REGISTRATION: 'token' });

  it('register: 201 with all that the client needs; 400, 401, 404 and 409', async () => {
    const tenant = await tenantWithApp(own.api);
    const { clientRegistration } = tenant.plinth.auth;
    const { data, response } = await clientRegistration.register({ body: notebook }).response();
    expect([response.status, response.headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(data).toMatchObject({
      ...notebook,
      grant_types: ['authorization_code'],
      response_types: ['code'],
    });
    const guarded = { ...notebook, scope: 'auth:write' };
    await tenant.refused(400, 'invalid_client_metadata', ({ auth }) =>
      auth.clientRegistration.register({ body: guarded }),
    );
    await tenant
      .anonymous()
      .refused(401, 'invalid_token', ({ auth }) => auth.clientRegistration.register({ body: notebook }));
    await own.api
      .operator()
      .refused(404, 'invalid_request', ({ auth }) =>
        auth.clientRegistration.register({ app_id: 'nowhere', body: notebook }),
      );
    await own.database.run('update auth.registration_counts set clients = 1000');
    await tenant.refused(409, 'invalid_request', ({ auth }) =>
      auth.clientRegistration.register({ body: notebook }),
    );
    await own.database.run('update auth.registration_counts set clients = 1');
  });

  it('get, update and delete: 200, 200 and 204 with the token of the client, else 401', async () => {
    const tenant = await tenantWithApp(own.api);
    const made = await tenant.plinth.auth.clientRegistration.register({ body: notebook });
    const clientId = made.client_id;
    for (const refused of [tenant.anonymous(), tenant]) {
      await refused.refused(401, 'invalid_token', ({ auth }) => auth.clientRegistration.get({ clientId }));
      await refused.refused(401, 'invalid_token', ({ auth }) =>
        auth.clientRegistration.update({ clientId, body: notebook }),
      );
      await refused.refused(401, 'invalid_token', ({ auth }) => auth.clientRegistration.delete({ clientId }));
    }
    const { clientRegistration } = tenant.withSession(made.registration_access_token).plinth.auth;
    expect(await clientRegistration.get({ clientId })).toEqual(made);
    const body = { ...notebook, client_name: 'Notes' };
    expect(await clientRegistration.update({ clientId, body })).toEqual({ ...made, client_name: 'Notes' });
    expect((await clientRegistration.delete({ clientId }).response()).response.status).toBe(204);
  });
});
