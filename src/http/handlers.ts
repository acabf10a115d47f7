import type { Operation } from './operation.ts';
import type { Handler, Service } from './service.ts';

/** The handler of an operation; undefined when the service has none. */
export function handlerOf(
  { service }: { readonly service: Service },
  { resource, method }: Pick<Operation, 'resource' | 'method'>,
): Handler | undefined {
  const resources = service.handlers[resource];
  return resources && Object.hasOwn(resources, method) ? resources[method] : undefined;
}
