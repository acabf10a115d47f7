import type { Context } from '../../../http/context.ts';
import type { Handler, Handlers } from '../../../http/service.ts';
import { DomainError, type ErrorKind } from '../../../lib/errors.ts';
import type { Deps } from '../oauth/access/deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { lookOf } from '../look/look.ts';
import { unexpectedPage } from '../views/message-pages.ts';
import { homeOf, likelyApp, originOf } from '../views/origin.ts';
import { answerPage } from '../views/page-answer.ts';
import type { WayOn } from '../views/parts.ts';

type ErrorDeps = Pick<Deps, 'db' | 'directory' | 'oauthClients'>;

/**
 * Wraps handlers of pages, so that the errors of users are told in the look of the app whose page it was.
 * @param again where users get a new link in place of one that no longer works
 */
export const inOwnLook = <Group extends Handlers[string]>(
  group: Group,
  deps: ErrorDeps,
  methods: readonly (keyof Group)[],
  again?: (app: KnownApp) => WayOn,
): Group => {
  const wrapped = (handler: Handler) => async (request: never, context: Context) => {
    try {
      return await handler(request, context);
    } catch (thrown) {
      const status = thrown instanceof DomainError ? statuses[thrown.kind] : undefined;
      const app = status === undefined ? undefined : await appOf(deps, request, context);
      if (status === undefined || app === undefined) throw thrown;
      const error = thrown as DomainError;
      const origin = await originOf(deps, context.cookie);
      const way = again && error.kind === 'gone' ? again(app) : await homeOf(deps, app, origin?.client);
      const look = await lookOf(deps.db.sql, app, null);
      return answerPage(context.reply, unexpectedPage(error, way), look, {
        status,
        retryAfter: error.retryAfter,
      });
    }
  };
  return Object.fromEntries(
    Object.entries(group).map(([method, handler]) => [
      method,
      methods.includes(method) ? wrapped(handler) : handler,
    ]),
  ) as Group;
};

/** Errors that users can do something about; the frame reports and logs the others. */
const statuses: Partial<Record<ErrorKind, 400 | 410 | 429>> = { invalid: 400, gone: 410, rateLimited: 429 };

/** The app that the request names, or whose client it names; otherwise the likely one. */
async function appOf(
  deps: ErrorDeps,
  request: { readonly app_id?: string; readonly client_id?: string },
  { cookie }: Context,
): Promise<KnownApp | undefined> {
  const { app_id, client_id } = request;
  const client = client_id === undefined ? undefined : await deps.oauthClients.find(client_id);
  const named = app_id ?? client?.app;
  return (named === undefined ? undefined : await deps.directory.app(named)) ?? likelyApp(deps, cookie);
}
