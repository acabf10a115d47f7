import { setTimeout as delay } from 'node:timers/promises';
import type { Changes, LoggedChange } from '../../../../db/changes.ts';
import type { Log } from '../../../../db/log.ts';
import { type AccessClaims, subjectsOfClaims } from './access-claims.ts';
import type { denylistStore, Denial } from './denylist.store.ts';

/** The access tokens that are refused although their signature is valid. */
export interface Denylist {
  /** Returns the ids of the refused ones among these: from memory if it is known to be complete, otherwise from the database. */
  refused(tokens: readonly AccessClaims[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  start(): Promise<void>;
  stop(): void;
}

export interface DenylistDeps {
  readonly store: ReturnType<typeof denylistStore>;
  readonly changes: Pick<Changes, 'fresh' | 'subscribe'>;
  readonly log: Log;
  /** Maximum number of denials kept in memory; beyond it, the database is queried. */
  readonly most?: number;
}

/** The longest lifetime of access tokens that a client may set. */
const longestTokenMs = 86_400_000;

/** Changes of rights reach ahead and clocks differ, so a change is kept longer than any token that it affects. */
export const denialMs = longestTokenMs + 3_600_000;

/** The interval of full reads, which drop outdated denials. */
const everyMs = 3_600_000;

/** The pause after a failed read; until the next one succeeds, the database decides. */
const pauseMs = 1_000;

/** Keeps the denials of the log in memory, and rereads them whenever changes may have been missed. */
export function createDenylist({ store, changes, log, most = 200_000 }: DenylistDeps): Denylist {
  let denials = new Map<string, number>();
  /** The result of the read in progress; denials that arrive meanwhile are added to it, too. */
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

  /** Above the maximum, none are kept: the database knows them all. */
  function keep(all: Map<string, number>): void {
    complete = all.size <= most;
    denials = complete ? all : new Map<string, number>();
  }

  /** Retries until a read succeeds; a later read replaces this one. */
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
