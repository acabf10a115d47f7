import { isContention } from '../../db/errors.ts';
import type { Database, Sql } from '../../db/index.ts';
import { emit, type Event } from '../../db/outbox.ts';
import type { Context } from '../../http/context.ts';
import type { ChainedEvent } from './append/chained.ts';
import { newEvent, ownCategory } from './append/new-event.ts';
import { record, type Recording, type RecordingDeps } from './append/recording.ts';
import type { KnownStreams } from './streams/known-streams.ts';

/** Who does something in the service, and for which tenant. */
export interface Author {
  readonly tenant: string;
  readonly app: string;
  readonly actor: string;
  readonly actorType: string;
  readonly recordedBy: string;
  readonly userId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** What the service itself did. Its metadata belongs to nobody, so that no erasure makes it unreadable: it never names a person. */
export interface Act {
  readonly action: string;
  readonly resource: string;
  readonly resource_id: string;
  readonly metadata: Record<string, unknown>;
}

/** One write in its transaction. */
export interface Write {
  readonly sql: Sql;
  /** Records, in the chain of the author's tenant, what this write does. */
  readonly act: (act: Act) => Promise<ChainedEvent>;
  /** Tells other services' subscribers. `data` never holds a secret or a person. */
  readonly emit: (type: `audit.${string}`, subject: string, data: object) => void;
}

/** Runs a write and returns its result. A write that another one stops is repeated as a whole. */
export type Writer = <T>(author: Author, run: (write: Write) => Promise<T>) => Promise<T>;

/** The milliseconds for which a write is repeated that waits for another one, which waits for it. */
const patienceMs = 10_000;

export const createWriter =
  (deps: RecordingDeps & { readonly db: Database; readonly known: KnownStreams }): Writer =>
  async (author, run) => {
    const stream = await deps.known.of(author.tenant, author.app);
    const { tenant, app, actor } = author;
    const attempt = () =>
      deps.db.transaction(async (sql) => {
        const events: Event[] = [];
        const result = await run({
          sql,
          async act(act) {
            const event = newEvent(inputOf(act, author), originOf(author), '', Date.now());
            const recording: Recording = { events: [{ event, stream }] };
            await record(sql, [recording], deps);
            return recording.recorded![0]!.chained!;
          },
          emit: (type, subject, data) =>
            void events.push({ source: '/audit', type, subject, tenant, app, actor, data }),
        });
        const [first, ...rest] = events;
        if (first !== undefined) await emit(sql, first, ...rest);
        return result;
      });
    for (const until = performance.now() + patienceMs; ;) {
      try {
        return await attempt();
      } catch (error) {
        if (!isContention(error) || performance.now() > until) throw error;
      }
    }
  };

/** The caller, as the author of a write for a tenant. */
export const authorOf = (
  { app, actor, credential, userId, ip, userAgent }: Context,
  tenant: string,
): Author => ({
  tenant,
  app,
  actor,
  actorType: userId === null ? (credential.kind === 'key' ? 'key' : 'system') : 'user',
  recordedBy: `${credential.kind}:${credential.id}`,
  userId,
  ip,
  userAgent,
});

/** The service, when it does something by itself. */
export const serviceFor = (tenant: string, app: string): Author => ({
  tenant,
  app,
  actor: 'audit',
  actorType: 'service',
  recordedBy: 'service:audit',
  userId: null,
  ip: null,
  userAgent: null,
});

const inputOf = (act: Act, { actorType, userId, ip, userAgent }: Author) => ({
  ...act,
  category: ownCategory,
  actor_type: actorType,
  user_id: userId,
  // Without a person to whom it belongs, nobody could erase an address.
  ip: userId === null ? null : ip,
  user_agent: userId === null ? null : userAgent,
  subject_id: null,
  reason: null,
  outcome: 'success' as const,
  severity: 'info' as const,
});

const originOf = ({ tenant, app, recordedBy }: Author) => ({ tenant, app, recordedBy, source: 'audit' });
