import type { Changes, RecordedChange } from '../../../db/changes.ts';
import type { Database, Sql } from '../../../db/index.ts';
import { Unavailable } from '../../../lib/errors.ts';
import { UnitOfWork, type Author as AnyAuthor, type Deliver } from '../../../db/write.ts';
import type { AccountChange } from './account-changes.ts';
import { events, type EventType } from './events.ts';
import type { Visit } from './visit.ts';
import { writeStore } from './writes.store.ts';

/** The author of a write. */
export interface Author extends AnyAuthor {
  /** The user who impersonates the actor; events then carry both. */
  readonly impersonatedBy?: string | null;
  /** The origin of the request, as far as it is known. */
  readonly visit?: Pick<Visit, 'ip' | 'userAgent'> | undefined;
}

/** A change of how an account is proven, as a write records it. */
export interface NotedAccountChange {
  readonly userId: string;
  readonly change: AccountChange;
  /** The account's former address, if it has changed. */
  readonly formerEmail?: string | null;
}

/**
 * The subject of a change, whose credentials must be checked again: one session, all of a user, of an app, of a client, a grant,
 * a token, or a scope of an app. A `signing_key` affects no credentials, only the key set that processes of this service cache.
 */
export type ChangeKind = 'session' | 'user' | 'app' | 'client' | 'grant' | 'token' | 'scope' | 'signing_key';

/**
 * The effect of a change on earlier credentials. `refuse`: they are refused. `reload`: they may do less, so caches are dropped
 * and access tokens refused. `forget`: they stay valid, and only cached copies of the account are dropped.
 */
export type ChangeEffect = 'refuse' | 'reload' | 'forget';

/** One write in its transaction, and what it records besides the rows. */
export interface Write extends Author {
  readonly sql: Sql;
  /** Records that rights ended or were reduced: every process drops what it cached about them. */
  readonly changed: (kind: ChangeKind, id: string, effect?: ChangeEffect) => void;
  /** Records an event by its full name, such as `user.created`. `data` never holds a secret. */
  readonly emit: (type: EventType, subject: string, data: object) => void;
  /** Records a change of how an account is proven: its devices lose their trust, and its owner is told. */
  readonly secured: (noted: NotedAccountChange) => void;
  /** Records the origin of the account's use, for notices to its owner. */
  readonly comesFrom: (visit: Pick<Visit, 'ip' | 'userAgent'>) => void;
}

/** Runs a write and returns its result. */
export type Writer = <T>(author: Author, run: (write: Write) => Promise<T>) => Promise<T>;

export interface WriterDeps {
  readonly db: Database;
  readonly changes: Changes;
  /** Creates deliveries of events for subscribed webhooks, in the transaction of the events. */
  readonly deliver: Deliver;
  /** Applies the consequences of changes in how accounts are proven, in the same transaction. */
  readonly secure: (write: Write, noted: readonly NotedAccountChange[]) => Promise<void>;
}

/**
 * Every write of the service goes through here: rows, changes, events and deliveries are committed together, and this process
 * drops its cached copies of changed data before it answers.
 */
export const createWriter =
  ({ db, changes, deliver, secure }: WriterDeps): Writer =>
  (author, run) =>
    db.transaction(async (sql) => {
      const { tenant, app, actor, impersonatedBy = null } = author;
      const unit = new UnitOfWork(sql, author, 'auth');
      const secured: NotedAccountChange[] = [];
      let { visit } = author;
      const changed: Write['changed'] = (kind, id, effect = usualEffect[kind]) =>
        unit.changed(changeOf(kind, id, effect));
      const both = impersonatedBy === null ? {} : { impersonated_by: impersonatedBy };
      const write: Write = {
        ...{ sql, tenant, app, actor, impersonatedBy, changed },
        get visit() {
          return visit;
        },
        secured: (change) => void secured.push(change),
        comesFrom: (place) => void (visit = place),
        emit(type, subject, data) {
          if (events[type].tellsOfAccount) changed('user', subject, 'forget');
          unit.emit(type, subject, { app_id: app, ...both, ...data });
        },
      };
      const result = await run(write);
      if (secured.length > 0) await secure(write, secured);
      await unit.settle({ log: changes, deliver });
      if (unit.changes.some(({ reach }) => reach === reachOfRights)) await checkInTime(sql);
      return result;
    });

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

/** An access token that is issued with the earlier rights while the transaction runs counts as issued before it. */
const reachOfRights = 2_000;

/** Maximum duration, in milliseconds, of a transaction that removes rights. */
const mostMs = 1_000;

/** The effect `forget` is recorded as a reload that reaches no issued tokens. */
const changeOf = (kind: ChangeKind, id: string, effect: ChangeEffect): RecordedChange => ({
  kind,
  id,
  effect: effect === 'forget' ? 'reload' : effect,
  reach: effect === 'forget' ? null : ofAccessTokens.has(kind) ? reachOfRights : 0,
});

/** The sources of access tokens: a token may be issued while its source changes. */
const ofAccessTokens: ReadonlySet<ChangeKind> = new Set([
  'session',
  'user',
  'client',
  'grant',
  'token',
  'scope',
]);

/** A token issued during a longer transaction might fall outside the reach of the change. */
async function checkInTime(sql: Sql): Promise<void> {
  const late = await writeStore(sql).isOlderThan(mostMs);
  if (late)
    throw Unavailable('store busy', { cause: new Error('a change of rights took longer than a second') });
}
