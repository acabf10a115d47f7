import type { Outbox } from '../../../generated/auth/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, newestFirst, placeOf } from '../../http/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import { appOfCaller } from './app-context.ts';
import type { Deps } from './deps.ts';
import { messageStore } from './messages.store.ts';

/** Outbox: messages that were not really sent, for development. In production there is none. */
export const outbox = ({ db, directory, production }: Pick<Deps, 'db' | 'directory' | 'production'>) => {
  const appOf = (context: Context) => {
    if (production) throw NotFound('outbox');
    return appOfCaller(directory, context, undefined);
  };
  return {
    async list({ to, kind, ...paged }, context) {
      const app = await appOf(context);
      const window = newestFirst(paged);
      const messages = await messageStore(db.sql).list(app.tenant, app.id, { to, kind }, window);
      context.reply.header('Cache-Control', 'no-store');
      return { messages: answerPage(context.reply, messages, window.limit, placeOf) };
    },

    async get({ messageId }, context) {
      const app = await appOf(context);
      const message = await messageStore(db.sql).get(app.tenant, app.id, messageId);
      context.reply.header('Cache-Control', 'no-store');
      return message;
    },

    async clear(_request, context) {
      const app = await appOf(context);
      await messageStore(db.sql).clear(app.tenant, app.id);
      return { status: 'deleted' };
    },
  } satisfies Outbox<Context>;
};
