import { setTimeout as delay } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { createPlinth, isPlinthError } from '../sdk/src/index.ts';
import { eventParser } from '../sdk/src/runtime/event-parser.ts';
import type { Config } from './config.ts';
import { createFreshCache } from './db/fresh-cache.ts';
import { positions } from './db/positions.ts';
import type { ResolveSession, SessionVerdict } from './http/credentials.ts';
import { Internal, Unavailable } from './lib/errors.ts';
import { subjectsOf } from './services/auth/session-principal.ts';

/** Sessions that another server judges, remembered for as long as it tells what changes. */
export interface RemoteSessions {
  readonly resolve: ResolveSession;
  start(): void;
  stop(): Promise<void>;
}

interface Wanted {
  readonly token: string;
  /** In memory stays the hash, not the token. */
  readonly hash: string;
}

interface Kept {
  readonly session: SessionVerdict;
  readonly expiresAt: number;
  readonly keptMs: number;
}

/** Without a sign of life for so long nothing that is remembered counts. */
const stalenessMs = 1_500;

/** Between the end of a stream and the next one. */
const pauseMs = 500;

const size = 50_000;

/**
 * An `auth` service elsewhere (`PLINTH_AUTH_URL`) as the judge of session tokens, by its SDK. Without an answer there is no
 * caller: `Unavailable`, never a guess.
 */
export function remoteSessions({ url, token }: Config['remotes'][string]): RemoteSessions {
  const plinth = createPlinth({ baseUrl: url, serviceUrls: { auth: url }, token, timeout: 5_000 });
  const changes = followChanges(`${url}/v1/auth/tokens/changes`, token);
  const cache = createFreshCache<Wanted, Kept>({
    size,
    changes,
    async read(wanted) {
      const found = await Promise.all(
        wanted.map(async (one) => [one.hash, await resolve(one.token)] as const),
      );
      return new Map(found.flatMap(([hash, kept]) => (kept === undefined ? [] : [[hash, kept]])));
    },
    width: Infinity,
    keyOf: ({ hash }) => hash,
    subjectsOf: ({ session }) => subjectsOf(session),
    lifetimeOf: ({ keptMs }) => keptMs,
  });

  async function resolve(text: string): Promise<Kept | undefined> {
    try {
      const found = await plinth.auth.tokens.resolve({ body: { token: text } });
      if (!found.active || found.kind !== 'session' || found.user_id === null || found.session_id === null)
        return undefined;
      const session = {
        id: found.session_id,
        tenant: found.tenant_id,
        app: found.app_id,
        user_id: found.user_id,
        org_id: found.org_id,
        impersonated_by: found.impersonated_by,
        // Only `auth` asks for it, and it does not ask here.
        authenticated_at: new Date(0).toISOString(),
        scopes: found.scopes,
      };
      return { session, expiresAt: Date.parse(found.expires_at), keptMs: found.cache_ms };
    } catch (error) {
      const status = isPlinthError(error) ? error.status : undefined;
      if (status === 401 || status === 403) throw Internal(error);
      throw Unavailable('auth unavailable', { cause: error });
    }
  }

  return {
    resolve(text) {
      const hash = createHash('sha256').update(text).digest('hex');
      const kept = cache.get(hash);
      if (kept && Date.now() < kept.expiresAt) return kept.session;
      return cache.load({ token: text, hash }).then((found) => found?.session);
    },
    start: () => changes.start(),
    stop: () => changes.stop(),
  };
}

/** Holds the stream of changes. What was remembered before a stream began is forgotten with its first sign of life. */
function followChanges(url: string, token: string) {
  const seen = positions();
  const stopped = new AbortController();
  let heardAt = -Infinity;
  let following: Promise<void> | undefined;

  async function read(): Promise<void> {
    const silence = new AbortController();
    const signal = AbortSignal.any([stopped.signal, silence.signal]);
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    let watch = setTimeout(() => silence.abort(), 5_000);
    try {
      const response = await fetch(url, { headers, signal });
      if (!response.ok || response.body === null) return;
      const [parser, decoder] = [eventParser(), new TextDecoder()];
      let first = true;
      for await (const chunk of response.body) {
        if (first) seen.forget();
        first = false;
        for (const { event, data } of parser.push(decoder.decode(chunk, { stream: true })))
          if (event === 'change') seen.mark(JSON.parse(data) as { kind: string; id: string });
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
      // A stream that broke begins again; until it does, every token is asked about.
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
