import { operations } from '../../../generated/operations.ts';
import type { Service } from '../../http/service.ts';
import { NotImplemented } from '../../lib/errors.ts';

type Handlers = Service['handlers'];

/** Fills in the operations that are not built yet, which the server would not start without. */
export function withUnbuilt(built: Handlers): Handlers {
  const filled: Record<string, Handlers[string]> = {};
  for (const { resource, method } of operations.filter(({ service }) => service === 'billing'))
    filled[resource] = {
      [method]: () => Promise.reject(NotImplemented('not built yet')),
      ...filled[resource],
      ...built[resource],
    };
  return filled;
}
