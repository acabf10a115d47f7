import { assignmentStore } from './assignments.store.ts';
import type { KnownApp } from '../directory/directory.ts';
import type { Write } from '../directory/writes.ts';

/** Assigns the app's default role to a new user. */
export async function assignDefaultRole(
  { sql, tenant }: Write,
  app: KnownApp,
  userId: string,
): Promise<void> {
  await assignmentStore(sql).insertBySlug(tenant, app.id, userId, app.settings.default_role);
}
