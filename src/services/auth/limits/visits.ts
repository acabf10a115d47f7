import type { Handler, Handlers } from '../../../http/service.ts';
import type { Context } from '../../../http/context.ts';
import type { RateLimits } from './rate-limits.ts';

/** Wraps the handlers in the limit of visits by address, except those with a limit of their own, or with none. */
export const limitedVisits = <Group extends Handlers[string]>(
  group: Group,
  limits: Pick<RateLimits, 'take'>,
  except: readonly (keyof Group)[] = [],
): Group => {
  const limited = (handler: Handler) => async (request: never, context: Context) => {
    await limits.take('visit', context.ip);
    return handler(request, context);
  };
  return Object.fromEntries(
    Object.entries(group).map(([method, handler]) => [
      method,
      except.includes(method) ? handler : limited(handler),
    ]),
  ) as Group;
};
