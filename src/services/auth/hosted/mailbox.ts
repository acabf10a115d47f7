import type { Outbox } from '../../../../generated/auth/server.ts';
import type { Message } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { Invalid, NotFound } from '../../../lib/errors.ts';
import { openContent } from '../../../notify/message-content.ts';
import { appOfCaller } from '../directory/app-context.ts';
import type { Deps } from '../oauth/access/deps.ts';
import { messageTable } from '../messages/messages.store.ts';
import { isBeyond } from '../directory/guarded-scopes.ts';
import { isMailboxKey } from './mailbox-key.ts';
import { mailboxStore, type StoredMessage } from './mailbox.store.ts';
import { plainLook } from '../look/look.ts';
import { mailboxPage } from '../views/mailbox-page.ts';
import { answerPage as answerHtml } from '../views/page-answer.ts';
import { scopeStore } from '../directory/scopes.store.ts';

/** Maximum number of messages on the developers' page. */
const mostOnPage = 50;

/**
 * The mailbox keeps messages that were not really sent, for development. In production there is none. Its paths and its messages call
 * it the outbox.
 */
export const mailbox = ({
  db,
  directory,
  sealer,
  production,
}: Pick<Deps, 'db' | 'directory' | 'sealer' | 'production'>) => {
  const appOf = (context: Context) => {
    if (production) throw NotFound('outbox');
    return appOfCaller(directory, context, undefined);
  };
  const opened = (tenant: string, { content_box, ...message }: StoredMessage): Message => ({
    ...message,
    ...openContent(sealer, messageTable.schema, tenant, content_box),
  });
  /** A message may hold the means to open its recipient's account: no caller reads messages to accounts that hold more than they do. */
  async function readable(
    context: Context,
    tenant: string,
    messages: readonly StoredMessage[],
  ): Promise<StoredMessage[]> {
    const ids = messages.map(({ id }) => id);
    const owners = await mailboxStore(db.sql).ownersOf(tenant, ids);
    const above = new Set<string>();
    for (const userId of new Set(owners.map(({ user_id }) => user_id)))
      if (isBeyond(context, await scopeStore(db.sql).anywhereOfUser(tenant, userId))) above.add(userId);
    const hidden = new Set(owners.filter(({ user_id }) => above.has(user_id)).map(({ id }) => id));
    return messages.filter(({ id }) => !hidden.has(id));
  }

  return {
    async list({ to, kind, ...paged }, context) {
      const app = await appOf(context);
      const window = windowOf(paged);
      const found = await mailboxStore(db.sql).list(app.tenant, app.id, { to, kind }, window);
      context.reply.header('Cache-Control', 'no-store');
      const page = answerPage(context.reply, window, found);
      const messages = await readable(context, app.tenant, page);
      return { messages: messages.map((message) => opened(app.tenant, message)) };
    },

    async get({ messageId }, context) {
      const app = await appOf(context);
      const found = await mailboxStore(db.sql).get(app.tenant, app.id, messageId);
      const [message] = await readable(context, app.tenant, [found]);
      if (!message) throw NotFound('message');
      context.reply.header('Cache-Control', 'no-store');
      return opened(app.tenant, message);
    },

    async page({ key }, context) {
      if (production) throw NotFound('outbox');
      if (!isMailboxKey(sealer, key))
        throw Invalid(
          'key: belongs to another server; open the address that this server prints when it starts',
        );
      const newest = await mailboxStore(db.sql).newest(mostOnPage);
      const messages = newest.map(({ tenant_id, ...message }) => opened(tenant_id, message));
      return answerHtml(context.reply, mailboxPage(messages), plainLook('Plinth'));
    },

    async clear(_request, context) {
      const app = await appOf(context);
      await mailboxStore(db.sql).clear(app.tenant, app.id);
      return { status: 'deleted' };
    },
  } satisfies Outbox<Context>;
};
