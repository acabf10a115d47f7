import type { Message } from '../../../generated/auth/types.ts';
import { dueWork } from '../../db/due-work.ts';
import type { Database } from '../../db/index.ts';
import type { Log } from '../../db/log.ts';
import { newId } from '../../lib/ids.ts';
import type { Sealer } from '../../lib/seal.ts';
import type { KnownApp } from './directory.ts';
import { openContent, sealContent } from './message-content.ts';
import type { MessageDriver, Way } from './message-drivers.ts';
import { delayAfterFailures } from './message-schedule.ts';
import { messageStore, type DueMessage } from './messages.store.ts';
import type { Write } from './writes.ts';

/** What a message says. */
export interface Draft extends Pick<Message, 'kind' | 'channel' | 'to' | 'subject' | 'text' | 'html'> {
  /** Kept beside the text where messages stay in the outbox, for development and tests. */
  readonly token: string | null;
  readonly code: string | null;
  readonly userId: string | null;
}

export interface Messages {
  /** Puts a message on its way with the transaction that it belongs to. */
  send(write: Write, app: KnownApp, draft: Draft): Promise<void>;
  /** Whether text messages have a way to leave. */
  readonly canText: boolean;
  start(): void;
  /** Takes no more messages and waits for those on their way. */
  stop(): Promise<void>;
}

interface MessagesDeps {
  readonly db: Database;
  readonly ways: Readonly<Record<Message['channel'], Way>>;
  readonly sealer: Sealer;
  readonly log: Log;
}

/**
 * Messages are rows, written with what they are about and sent afterwards: no answer waits for a mail server, and none is lost
 * when one is away.
 */
export function createMessages({ db, ways, sealer, log }: MessagesDeps): Messages {
  const drivers = new Map<Message['channel'], MessageDriver>();
  for (const channel of ['email', 'sms'] as const) {
    const way = ways[channel];
    if (way !== undefined && way !== 'outbox') drivers.set(channel, way);
  }
  const work = dueWork<DueMessage>({
    db,
    log,
    name: 'auth_messages',
    width: 8,
    pollMs: 1_000,
    claim: (count) => messageStore(db.sql).claim([...drivers.keys()], count),
    run: attempt,
  });

  async function handOver({ tenant_id, channel, content_box, ...message }: DueMessage): Promise<void> {
    const { text, html } = openContent(sealer, tenant_id, content_box);
    await drivers.get(channel)!.send({ ...message, text, html });
  }

  async function attempt(message: DueMessage): Promise<void> {
    const problem = await handOver(message).then(() => undefined, codeOf);
    const store = messageStore(db.sql);
    if (problem === undefined) return store.sent(message);
    const { id, channel, kind, attempts } = message;
    const delay = delayAfterFailures(attempts + 1, Math.random());
    const facts = { message: id, channel, kind, problem };
    if (delay === undefined) {
      log.error(facts, 'a message was not sent and is given up');
      return store.failed(message);
    }
    log.warn(facts, 'a message was not sent and will be tried again');
    return store.tryAgain(message, delay);
  }

  return {
    async send({ sql, tenant }, app, { userId, text, html, token, code, ...draft }) {
      const kept = ways[draft.channel] === 'outbox';
      const shown = kept ? { token, code } : { token: null, code: null };
      await messageStore(sql).insert({
        ...draft,
        id: newId('msg'),
        tenant_id: tenant,
        app_id: app.id,
        user_id: userId,
        content_box: sealContent(sealer, tenant, { text, html, ...shown }),
        state: kept ? 'sent' : 'queued',
      });
      if (drivers.has(draft.channel)) await work.wake(sql);
    },
    canText: ways.sms !== undefined,
    start() {
      if (ways.email === undefined) log.warn('PLINTH_AUTH_SMTP_URL is not set: mail waits until it is');
      if (drivers.size > 0) work.start();
    },
    async stop() {
      await work.stop();
      await Promise.all([...drivers.values()].map((driver) => driver.close()));
    },
  };
}

/** What went wrong, in a word: the texts of mail servers repeat addresses, which are nothing for the log. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { responseCode, code, name } = error as Error & { responseCode?: number; code?: string };
  return responseCode === undefined ? (code ?? name) : String(responseCode);
}
