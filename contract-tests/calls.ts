/** SDK calls built from the operations table instead of written out. */
import type { Plinth } from '../sdk/src/index.ts';
import type { Operation } from '../generated/operations.ts';
import { exampleBody, requiredParameters } from './requests.ts';

/** The result of every SDK method. Lists and streams can also be iterated. */
export interface Call extends Partial<AsyncIterable<unknown>> {
  response(): Promise<{ readonly data: unknown; readonly response: Response }>;
}

type Method = (
  request: Record<string, unknown>,
  options?: { readonly headers?: Readonly<Record<string, string>> },
) => Call;

/** Returns the SDK method that calls an operation. */
export function methodOf(plinth: Plinth, { service, resource, method }: Operation): Method {
  const resources = plinth[service] as unknown as Readonly<Record<string, Readonly<Record<string, Method>>>>;
  // `OAuth` is `oauth` in the SDK, so the comparison ignores case.
  const name = Object.keys(resources).find((key) => key.toLowerCase() === resource.toLowerCase());
  const found = resources[name ?? '']?.[method];
  if (!found) throw new Error(`the SDK has no ${service}.${resource}.${method}`);
  return found;
}

/** Returns the SDK arguments of the example request: the required parameters and the body. */
export function exampleMembers(operation: Operation): Record<string, unknown> {
  const body = exampleBody(operation);
  return { ...requiredParameters(operation), ...(body === undefined ? {} : { body }) };
}

/** Whether an operation is a WebSocket. The SDK has no method for it, so tests use the platform's own client. */
export const isFeed = ({ responses }: Operation): boolean => responses.some(({ status }) => status === 101);
