/** Receives the webhooks of a drill: one path answers at once, the other never answers the first request of an event. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface DrillReceiver {
  readonly url: string;
  /** The ids of the events that were answered with 200. */
  readonly taken: ReadonlySet<string>;
  /**
   * When the connections of hanging events were lost, in milliseconds of the monotonic clock, until the events are sent again.
   */
  readonly lost: ReadonlyMap<string, number>;
  /** The milliseconds between the loss of a connection and the next request of the same event. */
  readonly resumed: readonly number[];
  /** Measures what is still lost from now on. */
  restarted(): void;
  /** Answers the requests that are still hanging. */
  release(): void;
  close(): Promise<void>;
}

export async function drillReceiver(): Promise<DrillReceiver> {
  const taken = new Set<string>();
  const hanging = new Map<string, ServerResponse>();
  const seen = new Set<string>();
  const lost = new Map<string, number>();
  const resumed: number[] = [];
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    request.resume();
    if (request.url === '/hang' && !seen.has(id)) {
      seen.add(id);
      hanging.set(id, response);
      response.on('close', () => void (hanging.delete(id) && lost.set(id, performance.now())));
      return;
    }
    const lostAt = lost.get(id);
    if (lostAt !== undefined && lost.delete(id)) resumed.push(performance.now() - lostAt);
    taken.add(id);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    lost,
    resumed,
    restarted() {
      for (const id of lost.keys()) lost.set(id, performance.now());
    },
    release() {
      const released = [...hanging];
      hanging.clear();
      for (const [id, response] of released) {
        taken.add(id);
        response.end();
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
