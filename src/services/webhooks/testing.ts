import type { Endpoint, Event, EventType, IssuedEndpoint } from '../../../generated/webhooks/types.ts';
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
    const answer = await api.request(method, `/webhooks${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    send,
    /** Registers an event type, as the operator. */
    type: (name: string, body: object = {}): Promise<EventType> =>
      send('POST', '/event-types', { body: { name, ...body } }),
    /** Creates an endpoint; by default for every event. */
    endpoint: (body: object = {}, options: TestRequest = {}): Promise<IssuedEndpoint> =>
      send('POST', '/endpoints', {
        ...options,
        body: { url: 'https://hooks.acme.example/plinth', event_types: ['*'], ...body },
      }),
    getEndpoint: (id: string, options: TestRequest = {}): Promise<Endpoint> =>
      send('GET', `/endpoints/${id}`, options),
    /** Sends an event of a registered type. */
    event: (body: object, options: TestRequest = {}): Promise<Event> =>
      send('POST', '/events', { ...options, body }),
    /** Returns the status and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string]> {
      const { status, text } = await api.request(method, `/webhooks${path}`, options);
      return [status, text === '' ? '' : (JSON.parse(text) as { error: string }).error];
    },
  };
};
