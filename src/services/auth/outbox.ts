import type { Outbox } from '../../../generated/auth/server.ts';
import type { Message } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, newestFirst, placeOf } from '../../http/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import { appOfCaller } from './app-context.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from './directory.ts';
import { openContent } from './message-content.ts';
import { messageStore, type StoredMessage } from './messages.store.ts';

/** Outbox: messages that were not really sent, for development. In production there is none. */
export const outbox = ({
  db,
  directory,
  sealer,
  production,
}: Pick<Deps, 'db' | 'directory' | 'sealer' | 'production'>) => {
  const appOf = (context: Context) => {
    if (production) throw NotFound('outbox');
    return appOfCaller(directory, context, undefined);
  };
  const opened = ({ tenant }: KnownApp, { content_box, ...message }: StoredMessage): Message => ({
    ...message,
    ...openContent(sealer, tenant, content_box),
  });
  return {
    async list({ to, kind, ...paged }, context) {
      const app = await appOf(context);
      const window = newestFirst(paged);
      const found = await messageStore(db.sql).list(app.tenant, app.id, { to, kind }, window);
      context.reply.header('Cache-Control', 'no-store');
      const messages = answerPage(context.reply, found, window.limit, placeOf);
      return { messages: messages.map((message) => opened(app, message)) };
    },

    async get({ messageId }, context) {
      const app = await appOf(context);
      const message = await messageStore(db.sql).get(app.tenant, app.id, messageId);
      context.reply.header('Cache-Control', 'no-store');
      return opened(app, message);
    },

    async clear(_request, context) {
      const app = await appOf(context);
      await messageStore(db.sql).clear(app.tenant, app.id);
      return { status: 'deleted' };
    },
  } satisfies Outbox<Context>;
};
