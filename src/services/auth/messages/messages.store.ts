import type { MessageTable } from '../../../notify/messages.store.ts';

/** The table of the service's messages. */
export const messageTable: MessageTable = {
  schema: 'auth',
  mailFrom: (sql) => sql`(
    select apps.settings ->> 'mail_from' from auth.apps
    where apps.tenant_id = messages.tenant_id and apps.id = messages.app_id
  )`,
};
