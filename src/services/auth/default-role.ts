import { assignmentStore } from './assignments.store.ts';
import type { KnownApp } from './directory.ts';
import type { Write } from './writes.ts';

/** Gives a new user the role that all users of the app begin with. */
export async function assignDefaultRole(
  { sql, tenant }: Write,
  app: KnownApp,
  userId: string,
): Promise<void> {
  await assignmentStore(sql).insertBySlug(tenant, app.id, userId, app.settings.default_role);
}
