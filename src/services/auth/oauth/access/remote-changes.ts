import { setTimeout as delay } from 'node:timers/promises';
import { eventParser } from '../../../../../sdk/src/runtime/event-parser.ts';
import type { Change } from '../../../../db/changes.ts';
import { positions } from '../../../../db/positions.ts';
import type { Remote } from '../../../../http/remote-port.ts';

/** Milliseconds without data from the stream after which no cached verdict is used. */
const stalenessMs = 1_500;

/** Milliseconds between the end of a stream and the next attempt. */
const pauseMs = 500;

/** The subject of what may change with any scope of an app. */
export const anyScopeOf = (app: string): Change => ({ kind: 'scope of', id: app });

/**
 * Follows the stream of changes of a remote `auth` service. It reads the bytes itself, because comments count as signs of life. The
 * first data of a stream invalidates everything that was cached before.
 */
export function followChanges({ url, token }: Remote) {
  const seen = positions();
  const stopped = new AbortController();
  let heardAt = -Infinity;
  let following: Promise<void> | undefined;

  function mark(change: Change): void {
    seen.mark(change);
    if (change.kind === 'scope') seen.mark(anyScopeOf(change.id.slice(0, change.id.indexOf(' '))));
  }

  async function read(): Promise<void> {
    const silence = new AbortController();
    const signal = AbortSignal.any([stopped.signal, silence.signal]);
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    let watch = setTimeout(() => silence.abort(), 5_000);
    try {
      const response = await fetch(`${url}/v1/auth/tokens/changes`, { headers, signal });
      if (!response.ok || response.body === null) return;
      const [parser, decoder] = [eventParser(), new TextDecoder()];
      let first = true;
      for await (const chunk of response.body) {
        if (first) seen.forget();
        first = false;
        for (const { event, data } of parser.push(decoder.decode(chunk, { stream: true })))
          if (event === 'change') mark(JSON.parse(data) as Change);
        heardAt = performance.now();
        clearTimeout(watch);
        watch = setTimeout(() => silence.abort(), stalenessMs * 2);
      }
    } finally {
      clearTimeout(watch);
      heardAt = -Infinity;
    }
  }

  async function follow(): Promise<void> {
    while (!stopped.signal.aborted) {
      // A broken stream is reopened; until then every token is resolved remotely.
      await read().catch(() => {});
      await delay(pauseMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
    }
  }

  return {
    position: seen.position,
    isCurrent: (...asked: Parameters<typeof seen.isCurrent>) =>
      performance.now() - heardAt <= stalenessMs && seen.isCurrent(...asked),
    start: () => void (following = follow()),
    async stop() {
      stopped.abort();
      await following;
    },
  };
}
