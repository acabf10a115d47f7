import type { Message } from '../../../../generated/auth/types.ts';
import type { Clock } from '../../../db/clock.ts';
import type { Engine } from '../../../db/engine/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Log } from '../../../db/log.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { createMessageLimits } from '../../../notify/message-limits.ts';
import { createMessages, type Messages } from '../../../notify/messages.ts';
import type { MessageSettings } from '../../../notify/settings.ts';
import { waysOf } from '../../../notify/ways.ts';
import { TooManyAttempts } from '../errors.ts';
import { messageTable } from './messages.store.ts';

/** The messages that the service sends to users. */
export interface UserMessages extends Messages<Message['kind']> {
  /** Says what the operator should know. */
  start(): void;
}

interface UserMessagesDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, 'dueRows'>;
  readonly settings: MessageSettings;
  readonly production: boolean;
  /** Whether callers are told apart by network: on loopback all come from the same one. */
  readonly byNetwork: boolean;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly log: Log;
}

const prefix = 'PLINTH_AUTH';

/** @throws SettingError if the settings of messages contradict one another */
export function checkMessageSettings(settings: MessageSettings, production: boolean): void {
  waysOf(settings, { prefix, production, clock: { now: () => Date.now() } });
}

/** @throws SettingError if the settings of messages contradict one another */
export function createUserMessages({
  db,
  engine,
  settings,
  production,
  byNetwork,
  clock,
  sealer,
  log,
}: UserMessagesDeps): UserMessages {
  const ways = waysOf(settings, { prefix, production, clock });
  const messages = createMessages<Message['kind']>({
    db,
    engine,
    table: messageTable,
    ways,
    sealer,
    limits: createMessageLimits({ schema: 'auth', settings, byNetwork, sealer, log }),
    refusal: TooManyAttempts,
    log,
  });
  return {
    ...messages,
    start() {
      if (ways.email === undefined) log.warn('PLINTH_AUTH_SMTP_URL is not set: mail waits until it is');
    },
  };
}
