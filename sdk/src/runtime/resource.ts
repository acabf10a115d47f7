import { AnswerPromise } from './answer.ts';
import type { Client } from './client.ts';
import { RecordedEvents, ServerEvents } from './events.ts';
import { PagedList } from './lists.ts';
import type { Operation, RequestMembers, Target } from './operation.ts';
import type { EventOptions } from './options.ts';

/**
 * Creates the methods of a resource from its operations. `name` is how callers reach the resource: `authz.roles`. The cast is
 * safe because the generator writes interface and operations from the same contract.
 */
export function resource<Methods extends object>(
  client: Client,
  name: string,
  operations: { readonly [Method in keyof Methods]: Operation },
): Methods {
  const service = name.slice(0, name.indexOf('.'));
  const methods = Object.entries<Operation>(operations).map(([method, operation]) => {
    const target: Target = { service, name: `${name}.${method}`, operation };
    const call = (request: RequestMembers = {}, options?: EventOptions) =>
      start(client, target, request, options);
    // Errors carry this name, and stack traces show it.
    Object.defineProperty(call, 'name', { value: target.name });
    return [method, call] as const;
  });
  return Object.fromEntries(methods) as Methods;
}

function start(client: Client, target: Target, request: RequestMembers, options: EventOptions | undefined) {
  const { operation } = target;
  if (operation.events) return stream(client, target, request, options);
  if (operation.pages) {
    const ask = (page: RequestMembers) => client.send(target, page, options);
    return new PagedList(target, request, ask, options?.signal);
  }
  return new AnswerPromise(client.send(target, request, options));
}

function stream(client: Client, target: Target, request: RequestMembers, options: EventOptions | undefined) {
  const connect = (lastEventId: string | undefined) =>
    client.open(target, request, lastEventId === undefined ? options : resumed(options, lastEventId));
  const { events: _, recorded, ...asJson } = target.operation;
  // Reconnecting a POST would repeat its effect.
  const reconnect = options?.reconnect === true && asJson.verb === 'GET';
  if (!recorded) return new ServerEvents(target, connect, reconnect, options?.signal);
  const ask = () => new AnswerPromise(client.send({ ...target, operation: asJson }, request, options));
  return new RecordedEvents([target, connect, reconnect, options?.signal], ask);
}

const resumed = (options: EventOptions | undefined, lastEventId: string): EventOptions => ({
  ...options,
  headers: { ...options?.headers, 'Last-Event-ID': lastEventId },
});
