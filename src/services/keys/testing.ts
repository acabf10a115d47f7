import type { IssuedKey, Key, Policy, ValidationResult } from '../../../generated/keys/types.ts';
import type { TestRequest, TestResponse, TestServer } from '../../testing/server.ts';

/** The server through which a test sends requests: one in this process, or one of its own. */
export type Api = Pick<TestServer, 'request'>;

/** Short helpers for the tests of this service. Each expects success; the tests themselves check refusals. */
export const tools = (api: Api) => {
  const send = async (
    method: string,
    path: string,
    options: TestRequest = {},
  ): Promise<TestResponse['body']> => {
    const answer = await api.request(method, `/keys/v1${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    send,
    issue: (body: object = {}, options: TestRequest = {}): Promise<IssuedKey> =>
      send('POST', '/keys', { ...options, body: { name: 'Reporting job', ...body } }),
    policy: (body: object = {}, options: TestRequest = {}): Promise<Policy> =>
      send('POST', '/policies', { ...options, body: { name: `Policy ${Math.random()}`, ...body } }),
    judge: (raw_key: string, body: object = {}, options: TestRequest = {}): Promise<ValidationResult> =>
      send('POST', '/keys/validate', { ...options, body: { raw_key, record: 'none', ...body } }),
    key: (id: string, options: TestRequest = {}): Promise<Key> => send('GET', `/keys/${id}`, options),
    /** Returns the status and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string]> {
      const { status, text } = await api.request(method, `/keys/v1${path}`, options);
      return [status, text === '' ? '' : (JSON.parse(text) as { error: string }).error];
    },
  };
};
