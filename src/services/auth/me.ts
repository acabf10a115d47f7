import type { Me } from '../../../generated/auth/server.ts';
import type { Context } from '../../http/context.ts';
import { appOfCaller } from './app-context.ts';
import type { Deps } from './deps.ts';
import { userStore } from './users.store.ts';

/** The caller's own account. */
export const me = ({ db, directory }: Deps) =>
  ({
    async get(_request, context) {
      const app = await appOfCaller(directory, context, undefined);
      return userStore(db.sql).get(app.tenant, app.id, context.userId!);
    },
  }) satisfies Partial<Me<Context>>;
