import { setTimeout as delay } from 'node:timers/promises';
import type { Changes, LoggedChange } from '../../db/changes.ts';
import type { Log } from '../../db/log.ts';
import { type AccessClaims, subjectsOfClaims } from './access-claims.ts';
import type { denylistStore, Denial } from './denylist.store.ts';

/** Which access tokens are refused although their signature holds. */
export interface Denylist {
  /** The ids of the refused ones among these. From memory where it is certain to know, else from the database. */
  refused(tokens: readonly AccessClaims[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  start(): Promise<void>;
  stop(): void;
}

export interface DenylistDeps {
  readonly store: ReturnType<typeof denylistStore>;
  readonly changes: Pick<Changes, 'fresh' | 'subscribe'>;
  readonly log: Log;
  /** Denials that are kept; where there are more, the database is asked. */
  readonly most?: number;
}

/** Of an access token, the longest that a client may be set to. */
const longestTokenMs = 86_400_000;

/** Changes of rights count ahead, and clocks differ: a change is kept longer than any token that it is about. */
export const denialMs = longestTokenMs + 3_600_000;

/** Between two readings: what is too old goes. */
const everyMs = 3_600_000;

/** After a reading that failed; until the next one the database decides. */
const pauseMs = 1_000;

/** Keeps the denials of the log in memory, and reads them anew whenever changes may have been missed. */
export function createDenylist({ store, changes, log, most = 200_000 }: DenylistDeps): Denylist {
  let denials = new Map<string, number>();
  /** What the reading that is under way brings together; denials that arrive meanwhile belong there, too. */
  let gathered: Map<string, number> | undefined;
  let complete = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function note(change: LoggedChange): void {
    const denial = { ...change, before: Date.parse(change.before ?? '') };
    if (gathered) add(gathered, denial);
    if (complete) keep(add(denials, denial));
  }

  async function load(): Promise<void> {
    const into = (gathered = new Map<string, number>());
    const read = await store.latest(denialMs, most + 1);
    if (gathered !== into) return;
    for (const denial of read) add(into, denial);
    gathered = undefined;
    keep(into);
  }

  /** More than enough of them are none: the database knows them all. */
  function keep(all: Map<string, number>): void {
    complete = all.size <= most;
    denials = complete ? all : new Map<string, number>();
  }

  /** Until it succeeds; a reading that begins later ends it. */
  async function reload(): Promise<void> {
    while (!stopped) {
      try {
        return await load();
      } catch (error) {
        log.warn({ err: error }, 'denials could not be read');
        await delay(pauseMs, undefined, { ref: false });
      }
    }
  }

  const unsubscribe = changes.subscribe((change) => {
    if (change !== 'all') return note(change);
    complete = false;
    void reload();
  });

  return {
    refused(tokens) {
      if (!complete || !changes.fresh()) return store.refused(tokens).then((ids) => new Set(ids));
      const refused = tokens.filter((claims) =>
        subjectsOfClaims(claims).some((subject) => (denials.get(nameOf(subject)) ?? 0) > claims.issuedAt),
      );
      return new Set(refused.map(({ id }) => id));
    },
    async start() {
      timer = setInterval(() => void reload(), everyMs).unref();
      await reload();
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      unsubscribe();
    },
  };
}

function add(denials: Map<string, number>, { before, ...subject }: Denial): Map<string, number> {
  const name = nameOf(subject);
  return before > (denials.get(name) ?? 0) ? denials.set(name, before) : denials;
}

const nameOf = ({ kind, id }: { kind: string; id: string }) => `${kind}\0${id}`;
