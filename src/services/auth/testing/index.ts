import { randomBytes, randomInt } from 'node:crypto';
import type { AuthResult, Message, Role, User } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import type { TestRequest, TestResponse, TestServer } from '../../../testing/server.ts';
import { appStore } from '../directory/apps.store.ts';
import { initialSettings } from '../directory/first-app.ts';

/** The password of every account that tests sign up. */
export const password = 'correct horse battery staple';

/** Helpers for the tests of this service. Each expects success; `refusal` is for requests that are refused. */
export const tools = (server: Pick<TestServer, 'request'>) => {
  const send = async (
    method: string,
    path: string,
    options: TestRequest = {},
  ): Promise<TestResponse['body']> => {
    const answer = await server.request(method, `/auth/v1/auth${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    send,
    /** Returns the status, the message and the reason. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string, reason?: string]> {
      const { status, text } = await server.request(method, `/auth/v1/auth${path}`, options);
      const { error = '', reason } = (text === '' ? {} : JSON.parse(text)) as {
        error?: string;
        reason?: string;
      };
      return reason === undefined ? [status, error] : [status, error, reason];
    },
    /** Signs up an account of the app `default` with a unique address. */
    signUp: (body: object = {}, options: TestRequest = {}): Promise<AuthResult> =>
      send('POST', '/signup', {
        token: null,
        ...options,
        body: { email: newEmail(), password, app_id: 'default', ...body },
      }),
    /** Creates an account as root, without a session. */
    user: (body: object = {}, options: TestRequest = {}): Promise<User> =>
      send('POST', '/users', { ...options, body: { email: newEmail(), ...body } }),
    role: (body: object = {}, options: TestRequest = {}): Promise<Role> =>
      send('POST', '/roles', { ...options, body: { name: 'Role', slug: newSlug(), ...body } }),
    /** The newest message to this address or number. */
    async message(to: string, kind: Message['kind']): Promise<Message> {
      const { messages } = (await send('GET', `/dev/outbox?to=${encodeURIComponent(to)}&kind=${kind}`)) as {
        messages: Message[];
      };
      const [newest] = messages;
      if (!newest) throw new Error(`no ${kind} for ${to}`);
      return newest;
    },
  };
};

/** Creates a second app, in a new tenant or the given one; nothing of the first app may be visible from it. */
export async function otherApp(
  { db }: Pick<TestServer, 'db'>,
  tenant = newSlug(),
): Promise<{ tenant: string; id: string }> {
  const id = newId('app');
  await db.transaction(async (sql) => {
    const settings = initialSettings;
    const store = appStore(sql);
    await store.insertOnce({
      id,
      tenant_id: tenant,
      name: 'Other',
      slug: newSlug(),
      is_default: tenant !== 'default',
      settings,
    });
    await store.seedRoles(tenant, id);
  });
  return { tenant, id };
}

export const newEmail = () => `user-${randomBytes(6).toString('hex')}@example.com`;
export const newSlug = () => `s${randomBytes(6).toString('hex')}`;
/** A unique number that is valid in its region. */
export const newPhone = () => `+49151${String(randomInt(100_000_000)).padStart(8, '0')}`;
