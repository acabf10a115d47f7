/** Calls of the SDK that are made from the operations table rather than written out. */
import type { Plinth } from '../sdk/src/index.ts';
import type { Operation } from '../generated/operations.ts';
import { exampleBody, requiredParameters } from './requests.ts';

/** What every method of the SDK answers; lists and streams can be walked, too. */
export interface Call extends Partial<AsyncIterable<unknown>> {
  response(): Promise<{ readonly data: unknown; readonly response: Response }>;
}

type Method = (
  request: Record<string, unknown>,
  options?: { readonly headers?: Readonly<Record<string, string>> },
) => Call;

/** The method of the SDK that calls an operation. */
export function methodOf(plinth: Plinth, { service, resource, method }: Operation): Method {
  const resources = plinth[service] as unknown as Readonly<Record<string, Readonly<Record<string, Method>>>>;
  // `OAuth` is `oauth` there: only the letters are the same.
  const name = Object.keys(resources).find((key) => key.toLowerCase() === resource.toLowerCase());
  const found = resources[name ?? '']?.[method];
  if (!found) throw new Error(`the SDK has no ${service}.${resource}.${method}`);
  return found;
}

/** What the SDK is given for the example request: the required parameters and the body. */
export function exampleMembers(operation: Operation): Record<string, unknown> {
  const body = exampleBody(operation);
  return { ...requiredParameters(operation), ...(body === undefined ? {} : { body }) };
}

/** A WebSocket is opened by the platform's own means: the SDK has no method for it. */
export const isFeed = ({ responses }: Operation): boolean => responses.some(({ status }) => status === 101);
