import type { Context } from '../http/context.ts';
import type { Asks, PortsOf } from '../http/port.ts';
import type { Service, ServiceModule } from '../http/service.ts';

/** A made-up service that asks others. Each operation, such as `Info_get`, is answered by its handler; `more` is what else it has. */
export function madeUp<const Asked extends Asks>(
  name: string,
  asks: Asked,
  handlers: Record<string, (ports: PortsOf<Asked>, request: never, context: Context) => unknown>,
  more: Partial<Service> = {},
): ServiceModule {
  const module: ServiceModule<Record<never, never>, Asked> = {
    name,
    migrations: new URL('./none/', import.meta.url),
    built: Object.keys(handlers),
    settings: {},
    asks,
    create({ ports }) {
      const resources: Record<string, Record<string, object>> = {};
      for (const [id, handler] of Object.entries(handlers)) {
        const [resource = '', method = ''] = id.split('_');
        const own = (resources[resource] ??= {});
        own[method] = async (request: never, context: Context) => handler(ports, request, context);
      }
      return { ...bareService(resources), ...more };
    },
  };
  return module;
}

/** The part of a service that the frame needs. */
export const bareService = (handlers: Record<string, object>) => ({
  handlers: handlers as never,
  encodeError: ({ message }: Error) => ({ error: message }),
});
