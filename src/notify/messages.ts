import type { Engine } from '../db/engine/index.ts';
import type { Database, Sql } from '../db/index.ts';
import type { Log } from '../db/log.ts';
import { newId } from '../lib/ids.ts';
import type { Sealer } from '../lib/seal.ts';
import { openContent, sealContent } from './message-content.ts';
import { askedByNobody, type Asked, type MessageLimits } from './message-limits.ts';
import type { Channel, Draft, MessageDriver } from './message.ts';
import { messageStore, type DueMessage, type MessageTable } from './messages.store.ts';
import { delayAfter } from './schedule.ts';
import type { Way } from './ways.ts';

/** The transaction that a message belongs to, and the app whose message it is. */
export interface MessageWrite {
  readonly sql: Sql;
  readonly tenant: string;
  readonly app: string;
}

export interface Messages<Kind extends string> {
  /**
   * Queues a message within the transaction.
   * @throws the error of the service for too many attempts, if a limit is reached
   */
  send(write: MessageWrite, draft: Draft<Kind>, asked?: Asked): Promise<void>;
  /** Does the same as `send`, but returns the seconds to wait if a limit is reached, and 0 if the message is queued. */
  trySend(write: MessageWrite, draft: Draft<Kind>, asked?: Asked): Promise<number>;
  /** Queues a notice of something that happened. A notice over its limit is dropped: what it reports still happens. */
  notice(write: MessageWrite, draft: Draft<Kind>): Promise<void>;
  /** Whether text messages can be sent, or kept in the mailbox. */
  readonly canText: boolean;
  /** Closes the connections over which messages are sent; call it when none is being sent any more. */
  stop(): Promise<void>;
}

export interface MessagesOptions {
  readonly db: Database;
  readonly engine: Pick<Engine, 'dueRows'>;
  readonly table: MessageTable;
  readonly ways: Readonly<Record<Channel, Way>>;
  readonly sealer: Sealer;
  readonly limits: MessageLimits;
  /** The error for a caller who reached a limit, with the seconds to wait. */
  readonly refusal: (seconds: number) => Error;
  readonly log: Log;
}

/** The most messages that each process sends at once. */
const width = 8;

/**
 * Messages are rows, written together with the change that they are about and sent afterwards: no response waits for a mail
 * server, and no message is lost when the server is down.
 */
export function createMessages<Kind extends string>(options: MessagesOptions): Messages<Kind> {
  const { db, engine, table, ways, limits, refusal } = options;
  const drivers = driversOf(ways);
  const work =
    drivers.size === 0
      ? undefined
      : engine.dueRows<DueMessage>({
          name: `${table.schema}_messages`,
          width,
          claim: (count) => messageStore(db.sql, table).claim([...drivers.keys()], count),
          run: (message) => sendOnce(options, drivers.get(message.channel)!, message),
        });

  async function queue(write: MessageWrite, draft: Draft<Kind>): Promise<void> {
    await insert(options, write, draft);
    if (drivers.has(draft.channel)) await work?.wake(write.sql);
  }

  async function trySend(write: MessageWrite, draft: Draft<Kind>, asked = askedByNobody): Promise<number> {
    const wait = await limits.take(write, draft, asked);
    if (wait === 0) await queue(write, draft);
    return wait;
  }

  return {
    trySend,
    async send(write, draft, asked) {
      const wait = await trySend(write, draft, asked);
      if (wait > 0) throw refusal(wait);
    },
    async notice(write, draft) {
      const wait = await limits.takeNotice(write, draft);
      if (wait === 0) await queue(write, draft);
    },
    canText: ways.sms !== undefined,
    async stop() {
      await Promise.all([...drivers.values()].map((driver) => driver.close()));
    },
  };
}

function driversOf(ways: Readonly<Record<Channel, Way>>): Map<Channel, MessageDriver> {
  const drivers = new Map<Channel, MessageDriver>();
  for (const channel of ['email', 'sms'] as const) {
    const way = ways[channel];
    if (way !== undefined && way !== 'mailbox') drivers.set(channel, way);
  }
  return drivers;
}

/** Stores a message, to be sent or to stay in the mailbox. Only the mailbox keeps the token and the code beside the text. */
async function insert(
  { table, ways, sealer }: Pick<MessagesOptions, 'table' | 'ways' | 'sealer'>,
  { sql, tenant, app }: MessageWrite,
  { userId, text, html, token, code, ...draft }: Draft<string>,
): Promise<void> {
  const kept = ways[draft.channel] === 'mailbox';
  const shown = kept ? { token, code } : { token: null, code: null };
  await messageStore(sql, table).insert({
    ...draft,
    id: newId('msg'),
    tenant_id: tenant,
    app_id: app,
    user_id: userId,
    content_box: sealContent(sealer, table.schema, tenant, { text, html, ...shown }),
    state: kept ? 'sent' : 'queued',
  });
}

/** Makes one attempt to send a message and stores its outcome. Returns the milliseconds until the next attempt. */
async function sendOnce(
  { db, table, sealer, log }: Pick<MessagesOptions, 'db' | 'table' | 'sealer' | 'log'>,
  driver: MessageDriver,
  message: DueMessage,
): Promise<number | undefined> {
  const { id, tenant_id, channel, kind, attempts, to, subject, mail_from, content_box } = message;
  const store = messageStore(db.sql, table);
  const problem = await (async () => {
    const { text, html } = openContent(sealer, table.schema, tenant_id, content_box);
    await driver.send({ id, to, subject, mail_from, text, html });
  })().then(() => undefined, codeOf);
  if (problem === undefined) {
    await store.sent(message);
    return undefined;
  }
  const delay = delayAfter(attempts + 1, Math.random());
  const facts = { message: id, channel, kind, problem };
  if (delay === undefined) {
    log.error(facts, 'a message was not sent and is given up');
    await store.failed(message);
    return undefined;
  }
  log.warn(facts, 'a message was not sent and will be tried again');
  await store.tryAgain(message, delay);
  return delay * 1_000;
}

/** A one-word error code: the texts of mail servers repeat addresses, which must not be logged. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { responseCode, code, name } = error as Error & { responseCode?: number; code?: string };
  return responseCode === undefined ? (code ?? name) : String(responseCode);
}
