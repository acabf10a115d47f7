import type { AuditEvent, VerifyReport } from '../../../generated/audit/types.ts';
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
    const answer = await api.request(method, `/audit/v1${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    send,
    /** Records an event. */
    event: (body: object = {}, options: TestRequest = {}): Promise<AuditEvent> =>
      send('POST', '/events', { ...options, body: { ...anEvent, ...body } }),
    /** Records several events at once. */
    batch: (events: readonly object[], options: TestRequest = {}): Promise<{ events: { id: string }[] }> =>
      send('POST', '/events/batch', {
        ...options,
        body: { events: events.map((event) => ({ ...anEvent, ...event })) },
      }),
    get: (id: string, options: TestRequest = {}): Promise<AuditEvent> =>
      send('GET', `/events/${id}`, options),
    list: (
      query: string = '',
      options: TestRequest = {},
    ): Promise<{ events: AuditEvent[]; total: number; next_cursor: string | null }> =>
      send('GET', `/events${query}`, options),
    verify: (body: object = {}, options: TestRequest = {}): Promise<VerifyReport> =>
      send('POST', '/verify', { ...options, body }),
    /** Returns the status and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string]> {
      const { status, text } = await api.request(method, `/audit/v1${path}`, options);
      return [status, status < 400 ? '' : (JSON.parse(text) as { error: string }).error];
    },
  };
};

/** What every event needs. */
export const anEvent = { action: 'user.updated', resource: 'user', category: 'data' };

/** A tenant of a test's own. */
export const inTenant = (tenant: string): TestRequest => ({ headers: { 'X-Tenant-ID': tenant } });

/** A time on a day that many days ago. */
export const day = (daysAgo: number, time = '00:00:00.000'): string =>
  `${new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)}T${time}Z`;
