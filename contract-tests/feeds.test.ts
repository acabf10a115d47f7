/** Tests the contract's WebSockets, opened as a browser does, against the mock. */
import { afterEach, describe, expect, it } from 'vitest';
import { isFeed } from './calls.ts';
import { documented, nameOf } from './contract.ts';
import { connect } from './harness.ts';
import { exampleRequest } from './requests.ts';
import { misfit } from './schemas.ts';
import { servedBy, targetOf } from './targets.ts';

const mock = targetOf('mock');
const feeds = servedBy('mock').filter(isFeed);

describe.skipIf(!mock).each(feeds.map((operation) => [nameOf(operation), operation] as const))(
  'the feed %s',
  (_, operation) => {
    const { path, verb, entry } = documented(operation);
    const request = exampleRequest(operation);
    const breaches: string[] = [];
    afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));

    it('101 with a message of every documented kind', async () => {
      const kinds = Object.keys(entry['x-messages'] ?? {});
      const messages = await received(`${mock?.url ?? ''}${request.path}`, kinds.length);
      expect(messages.map(({ type }) => type).sort()).toEqual(kinds.sort());
      const wrong = messages.map((message) =>
        misfit(operation.service, ['paths', path, verb, 'x-messages', message.type], message),
      );
      expect(wrong.filter(Boolean)).toEqual([]);
    });

    it.each(
      Object.keys(entry.responses)
        .map(Number)
        .filter((status) => status >= 400),
    )('%i on request', async (status) => {
      const { url = '', rootToken = '' } = mock ?? {};
      const operator = connect({
        target: 'mock',
        url,
        rootToken,
        onBreach: (one) => breaches.push(one),
      }).operator();
      const response = await operator.fetch(request.path, { headers: { prefer: `code=${status}` } });
      expect(response.status).toBe(status);
    });
  },
);

/** Returns the first messages of a WebSocket. */
function received(url: string, count: number): Promise<{ type: string }[]> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [
    'plinth',
    `bearer.${btoa('any').replace(/=+$/, '')}`,
  ]);
  const messages: { type: string }[] = [];
  return new Promise((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error(`no WebSocket at ${url}`)));
    socket.addEventListener('close', () => reject(new Error(`closed after ${messages.length} messages`)));
    socket.addEventListener('message', ({ data }) => {
      messages.push(JSON.parse(String(data)) as { type: string });
      if (messages.length < count) return;
      socket.close();
      resolve(messages);
    });
  });
}
