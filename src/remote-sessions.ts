import { setTimeout as delay } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { ActivePrincipal, Principal } from '../generated/auth/types.ts';
import { createPlinth, isPlinthError } from '../sdk/src/index.ts';
import { eventParser } from '../sdk/src/runtime/event-parser.ts';
import type { Config } from './config.ts';
import type { Change } from './db/changes.ts';
import { createFreshCache } from './db/fresh-cache.ts';
import { positions } from './db/positions.ts';
import type { ResolveToken, TokenVerdict } from './http/access-token.ts';
import type { ResolveSession, SessionVerdict } from './http/credentials.ts';
import { Internal, Unavailable } from './lib/errors.ts';
import { readClaims, subjectsOfClaims } from './services/auth/access-claims.ts';
import { subjectsOf } from './services/auth/session-principal.ts';

/** Sessions and access tokens that another server judges, remembered for as long as it tells what changes. */
export interface RemoteSessions {
  readonly resolve: ResolveSession;
  readonly resolveToken: ResolveToken;
  start(): void;
  stop(): Promise<void>;
}

interface Wanted {
  readonly token: string;
  /** In memory stays the hash, not the token. */
  readonly hash: string;
}

interface Kept<Verdict> {
  readonly verdict: Verdict;
  readonly subjects: readonly Change[];
  readonly expiresAt: number;
  readonly keptMs: number;
}

type Later<Value> = Value | undefined | Promise<Value | undefined>;

/** Without a sign of life for so long nothing that is remembered counts. */
const stalenessMs = 1_500;

/** Between the end of a stream and the next one. */
const pauseMs = 500;

const size = 50_000;

/**
 * An `auth` service elsewhere (`PLINTH_AUTH_URL`) as the judge of session and access tokens, by its SDK. Without an answer there
 * is no caller: `Unavailable`, never a guess.
 */
export function remoteSessions({ url, token }: Config['remotes'][string]): RemoteSessions {
  const plinth = createPlinth({ baseUrl: url, serviceUrls: { auth: url }, token, timeout: 5_000 });
  const changes = followChanges(`${url}/v1/auth/tokens/changes`, token);

  async function ask(text: string): Promise<Principal> {
    try {
      return await plinth.auth.tokens.resolve({ body: { token: text } });
    } catch (error) {
      const status = isPlinthError(error) ? error.status : undefined;
      if (status === 401 || status === 403) throw Internal(error);
      throw Unavailable('auth unavailable', { cause: error });
    }
  }

  /** What `read` makes of a credential, remembered until something that it depends on changes. */
  function remembered<Verdict>(
    read: (principal: ActivePrincipal, text: string) => Judged<Verdict> | undefined,
  ) {
    const cache = createFreshCache<Wanted, Kept<Verdict>>({
      size,
      changes,
      async read(wanted) {
        const found = await Promise.all(
          wanted.map(async ({ hash, token }) => [hash, await resolve(token)] as const),
        );
        return new Map(found.flatMap(([hash, kept]) => (kept === undefined ? [] : [[hash, kept]])));
      },
      width: Infinity,
      keyOf: ({ hash }) => hash,
      subjectsOf: ({ subjects }) => subjects,
      lifetimeOf: ({ keptMs }) => keptMs,
    });
    async function resolve(text: string): Promise<Kept<Verdict> | undefined> {
      const found = await ask(text);
      const judged = found.active ? read(found, text) : undefined;
      if (!found.active || !judged) return undefined;
      return { ...judged, expiresAt: Date.parse(found.expires_at), keptMs: found.cache_ms };
    }
    return (text: string): Later<Verdict> => {
      const hash = createHash('sha256').update(text).digest('hex');
      const kept = cache.get(hash);
      if (kept && Date.now() < kept.expiresAt) return kept.verdict;
      return cache.load({ token: text, hash }).then((found) => found?.verdict);
    };
  }

  return {
    resolve: remembered(judgedSession),
    resolveToken: remembered(judgedToken),
    start: () => changes.start(),
    stop: () => changes.stop(),
  };
}

type Judged<Verdict> = Pick<Kept<Verdict>, 'verdict' | 'subjects'>;

function judgedSession(found: ActivePrincipal): Judged<SessionVerdict> | undefined {
  if (found.kind !== 'session' || found.user_id === null || found.session_id === null) return undefined;
  const verdict = {
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
  return { verdict, subjects: subjectsOf(verdict) };
}

/** What ends an access token stands in it: `auth` has verified it. A wider scope that its user lost may have covered one of its own. */
function judgedToken(found: ActivePrincipal, text: string): Judged<TokenVerdict> | undefined {
  const claims = found.kind === 'access_token' ? readClaims(decodeJwt(text)) : undefined;
  if (!claims || found.client_id === null) return undefined;
  const verdict = {
    id: claims.id,
    tenant: found.tenant_id,
    app: found.app_id,
    user_id: found.user_id,
    client_id: found.client_id,
    scopes: found.scopes,
  };
  return { verdict, subjects: [...subjectsOfClaims(claims), anyScopeOf(found.app_id)] };
}

const anyScopeOf = (app: string): Change => ({ kind: 'scope of', id: app });

/** Holds the stream of changes. What was remembered before a stream began is forgotten with its first sign of life. */
function followChanges(url: string, token: string) {
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
      const response = await fetch(url, { headers, signal });
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
