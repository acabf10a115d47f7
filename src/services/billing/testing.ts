import type { Clock } from '../../db/clock.ts';
import { testServer, type TestRequest, type TestResponse, type TestServer, type TestServerOptions } from '../../testing/server.ts';
import { billingBy } from './index.ts';

/** The server through which a test sends requests: one in this process, or one of its own. */
export type Api = Pick<TestServer, 'request'>;

/** A clock that a test turns. It stands still in between. */
export class TestClock implements Clock {
  #now: number;

  constructor(at: string) {
    this.#now = Date.parse(at);
  }

  now(): number {
    return this.#now;
  }

  /** Turns the clock to a time, or on by a number of milliseconds. */
  turn(to: string | number): void {
    this.#now = typeof to === 'string' ? Date.parse(to) : this.#now + to;
  }
}

/** A server whose billing goes by a clock of the test. */
export const serverBy = (clock: Clock, options: Partial<TestServerOptions> = {}): Promise<TestServer> =>
  testServer({ services: ['billing'], ...options, modules: [billingBy(clock)] });

/** Short helpers for the tests of this service. Each expects success; the tests themselves check refusals. */
export const tools = (api: Api) => {
  const send = async (
    method: string,
    path: string,
    options: TestRequest = {},
  ): Promise<TestResponse['body']> => {
    const answer = await api.request(method, `/billing${path}`, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  return {
    send,
    /** Returns the status, the code and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, code: string, message: string]> {
      const { status, body } = await api.request(method, `/billing${path}`, options);
      return [status, body?.error?.code ?? '', body?.error?.message ?? ''];
    },
  };
};
