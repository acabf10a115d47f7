import type { ScanResult } from '../../../generated/safety/types.ts';
import type { TestRequest, TestResponse, TestServer } from '../../testing/server.ts';

/** The server through which a test sends requests: one in this process, or one of its own. */
export type Api = Pick<TestServer, 'request'>;

/** The least that a primitive of each kind needs to be created, by the path of its kind. */
export const examples = {
  instincts: { name: 'attacks', category: 'injection' },
  awareness: { name: 'badge', focus: 'custom', detectors: [{ name: 'badge', keywords: ['secret badge'] }] },
  boundaries: { name: 'no-roadmap', limits: [{ scope: 'custom', deny: ['internal roadmap'] }] },
  values: { name: 'brand', rules: [{ principle: 'brand_safety', keywords: ['rivalcorp'] }] },
  judgments: { name: 'facts', domain: 'grounding' },
  reflexes: { name: 'report', triggers: [{ type: 'always' }], actions: [{ type: 'log' }] },
  profiles: { name: 'strict' },
} as const;

export type Path = keyof typeof examples;

/** A text in which the built-in profile finds an address and nothing else. */
export const withAddress = 'Write to me john.smith@example.com please';

/** Short helpers for the tests of this service. Each expects success; the tests themselves check refusals. */
export const tools = (api: Api) => {
  const send = async (
    method: string,
    path: string,
    options: TestRequest = {},
  ): Promise<TestResponse['body']> => {
    const answer = await api.request(method, `/safety/v1${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const scan = (
    direction: 'input' | 'output',
    text: string,
    body: object = {},
    options: TestRequest = {},
  ): Promise<ScanResult> => send('POST', `/scan/${direction}`, { ...options, body: { text, ...body } });
  return {
    send,
    /** Creates a rule of the kind at the path. */
    create: (path: Path | 'policies', body: object = {}, options: TestRequest = {}) =>
      send('POST', `/${path}`, {
        ...options,
        body: { ...(path === 'policies' ? {} : examples[path]), ...body },
      }),
    scanInput: (text: string, body: object = {}, options: TestRequest = {}) =>
      scan('input', text, body, options),
    scanOutput: (text: string, body: object = {}, options: TestRequest = {}) =>
      scan('output', text, body, options),
    /** Returns the status and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string]> {
      const { status, text } = await api.request(method, `/safety/v1${path}`, options);
      return [status, text === '' ? '' : (JSON.parse(text) as { error: string }).error];
    },
  };
};
