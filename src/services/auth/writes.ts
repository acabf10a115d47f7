import type { Changes, RecordedChange } from '../../db/changes.ts';
import type { Database, Sql } from '../../db/index.ts';
import { Internal } from '../../lib/errors.ts';
import { emit as emitEvents, type Event, type Written } from '../../db/outbox.ts';
import { writeStore } from './writes.store.ts';

/** On whose behalf something is written: the tenant and app it belongs to, and who acts. */
export interface Author {
  readonly tenant: string;
  readonly app: string;
  readonly actor: string;
  /** Who acts as the actor; events then carry both. */
  readonly impersonatedBy?: string | null;
}

/**
 * Whose credentials are to be looked at again: one session, all of a user, of an app, of a client, a grant, a token, or a scope
 * of an app. A `signing_key` concerns nobody's, but the key set that processes of this service keep.
 */
export type ChangeKind = 'session' | 'user' | 'app' | 'client' | 'grant' | 'token' | 'scope' | 'signing_key';

/**
 * What a change does to credentials from before it: they are refused; or they may do less, so that what is kept is forgotten
 * and access tokens are refused; or they stay as they are, and only what is kept of the account is forgotten.
 */
export type ChangeEffect = 'refuse' | 'reload' | 'forget';

/** One write in its transaction, and what it notes besides the rows. */
export interface Write extends Author {
  readonly sql: Sql;
  /** Notes that rights ended or became fewer: what was cached about them is forgotten in every process. */
  readonly changed: (kind: ChangeKind, id: string, effect?: ChangeEffect) => void;
  /** Notes an event by its full name, such as `user.created`. `data` never holds a secret. */
  readonly emit: (type: string, subject: string, data: object) => void;
}

/** Runs a write and answers what it returns. */
export type Writer = <T>(author: Author, run: (write: Write) => Promise<T>) => Promise<T>;

export interface WriterDeps {
  readonly db: Database;
  readonly changes: Changes;
  /** Makes deliveries of events for the webhooks that want them, in the transaction of the events. */
  readonly deliver: (
    sql: Sql,
    events: readonly [Event, ...Event[]],
    written: Promise<readonly Written[]>,
  ) => Promise<void>;
}

/**
 * Every write of the service goes through here: rows, changes, events and deliveries are committed together, and before the
 * answer this process has dropped what it kept of what changed.
 */
export const createWriter =
  ({ db, changes, deliver }: WriterDeps): Writer =>
  ({ tenant, app, actor, impersonatedBy = null }, run) =>
    db.transaction(async (sql) => {
      const noted: RecordedChange[] = [];
      const events: Event[] = [];
      const both = impersonatedBy === null ? {} : { impersonated_by: impersonatedBy };
      const result = await run({
        sql,
        tenant,
        app,
        actor,
        impersonatedBy,
        changed: (kind, id, effect = usualEffect[kind]) => void noted.push(changeOf(kind, id, effect)),
        emit(type, subject, data) {
          if (tellsOfAccount.test(type)) noted.push(changeOf('user', subject, 'forget'));
          events.push({
            source: '/auth',
            type,
            subject,
            tenant,
            app,
            actor,
            data: { app_id: app, ...both, ...data },
          });
        },
      });
      const [first, ...rest] = events;
      // Sent in one go: each would cost a round trip of its own.
      await Promise.all([
        first && deliver(sql, [first, ...rest], emitEvents(sql, first, ...rest)),
        noted.length > 0 && changes.record(sql, ...noted),
      ]);
      if (noted.some(({ reach }) => reach === reachOfRights)) await checkInTime(sql);
      return result;
    });

/** Events whose subject is a user of whose account something else is to be told from now on. */
const tellsOfAccount = /^(user\.(updated|email_verified|banned|unbanned)|auth\.signin)$/;

const usualEffect: Readonly<Record<ChangeKind, ChangeEffect>> = {
  session: 'refuse',
  user: 'reload',
  app: 'refuse',
  client: 'refuse',
  grant: 'refuse',
  token: 'refuse',
  scope: 'reload',
  signing_key: 'forget',
};

/** An access token that is issued while the transaction runs, from the rights of before, counts as one from before it. */
const reachOfRights = 2_000;

/** Milliseconds that a transaction which takes rights may last. */
const mostMs = 1_000;

/** What is only forgotten is told as a reload of what was issued before any time. */
const changeOf = (kind: ChangeKind, id: string, effect: ChangeEffect): RecordedChange => ({
  kind,
  id,
  effect: effect === 'forget' ? 'reload' : effect,
  reach: effect === 'forget' ? null : ofAccessTokens.has(kind) ? reachOfRights : 0,
});

/** What access tokens come of, so that one may be issued while it changes. */
const ofAccessTokens: ReadonlySet<ChangeKind> = new Set([
  'session',
  'user',
  'client',
  'grant',
  'token',
  'scope',
]);

/** A transaction that takes longer might be overtaken by a token that its reach does not cover any more. */
async function checkInTime(sql: Sql): Promise<void> {
  const late = await writeStore(sql).isOlderThan(mostMs);
  if (late) throw Internal(new Error('a change of rights took longer than a second'));
}
