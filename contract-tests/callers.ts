import type { Operation } from '../generated/operations.ts';
import { openBrowser } from './auth/browser.ts';
import { consented } from './auth/consented.ts';
import { shownPages } from './auth/shown.ts';
import { billingNotification, cardNotification } from './billing/payers.ts';
import { resumed } from './common-failures.ts';
import { nameOf } from './contract.ts';
import type { Credential, Tenant } from './harness.ts';
import { exampleRequest, type WireRequest } from './requests.ts';

/** Who calls operations, and with what. */
export type Callers = Awaited<ReturnType<typeof createCallers>>;

/** Makes credentials that every operation admits. @param outboxKey shows the messages that the server kept for developers */
export async function createCallers(operator: Tenant, outboxKey: string) {
  const keyWithoutScopes = await operator.withKey([]);
  const keyWithAllScopes = await operator.withKey(['*']);
  const unusedKey = await operator.withKey(['*']);
  const user = await operator.withUser();
  const { session_token } = await operator.plinth.auth.admin.impersonate({
    body: { target_user_id: user.id },
  });
  const impersonator = operator.withSession(session_token);
  const client = await operator.withClient();
  const ofPage = await shownPages(operator, user);
  const { accessToken } = await consented(operator, user);
  const { registration_access_token: registrationToken } =
    await operator.plinth.auth.clientRegistration.register({
      body: { redirect_uris: ['https://notebook.example.com/callback'] },
    });
  const browser = openBrowser(operator.anonymous());
  await browser.open('/oauth2/device');
  const deviceCookie = browser.cookieFor('/auth/v1/auth/oauth2/device');
  // Invalidates the cached data of the user.
  await operator.plinth.auth.users.update({ userId: user.id, body: { name: 'Ada' } });

  /** Returns a credential that an operation admits: most accept root, `whoami` only a key, and a user's own resources only that user. */
  const allowed = (operation: Operation): Credential => {
    if (nameOf(operation) === 'auth.Admin_stopImpersonating') return impersonator;
    if (nameOf(operation) === 'auth.OAuth_introspect') return client;
    if (operation.access === 'user') return user;
    return operation.access === 'key' ? keyWithAllScopes : operator;
  };

  return { keyWithoutScopes, unusedKey, allowed, reading };

  /** Returns a request that needs the tables: no token or form that is refused without reading them. */
  function reading(operation: Operation): [Credential, WireRequest] {
    const { resource, method } = operation;
    if (resource === 'Pages') return [operator.anonymous(), ofPage(operation)];
    if (resource === 'DeviceGrant' && method === 'resume') {
      const { path, init } = exampleRequest(operation);
      return [
        operator.anonymous(),
        { path, init: { ...init, headers: { ...init.headers, cookie: deviceCookie } } },
      ];
    }
    // The time of the example is over, and so refused before anything is read.
    if (resource === 'Meter' && method === 'record')
      return [operator, exampleRequest(operation, { body: { feature_key: 'api_calls' } })];
    if (resource === 'Notifications') return [operator.anonymous(), signed(operation)];
    if (resource === 'Outbox' && method === 'page')
      return [operator.anonymous(), exampleRequest(operation, { parameters: { key: outboxKey } })];
    if (resource === 'ClientRegistration' && method !== 'register')
      return [operator.withSession(registrationToken), exampleRequest(operation)];
    if (resource !== 'OAuth' || !/userinfo$/i.test(method))
      return [allowed(operation), exampleRequest(operation, resumed(operation))];
    if (operation.body)
      return [operator.anonymous(), exampleRequest(operation, { body: { access_token: accessToken } })];
    return [operator.withSession(accessToken), exampleRequest(operation)];
  }
}

/** A notification as the payment provider sends it. */
function signed(operation: Operation): WireRequest {
  const { path, init } = exampleRequest(operation);
  const { body, ...headers } =
    operation.method === 'cardProvider'
      ? cardNotification('payment_intent.succeeded', { id: 'pi_1' })
      : billingNotification('transaction.completed', { id: 'txn_1' });
  return {
    path,
    init: { ...init, headers: { ...init.headers, ...(headers as Record<string, string>) }, body },
  };
}
