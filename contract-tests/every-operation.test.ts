/**
 * Calls every operation of all services through the SDK with the contract's example, against the mock: the answer matches its
 * schema, and each documented failure reaches the caller as the right error.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { isPlinthError, PlinthError } from '../sdk/src/index.ts';
import { services, type Operation, type ServiceName } from '../generated/operations.ts';
import { exampleMembers, isFeed, methodOf, type Call } from './calls.ts';
import { eventBreaches, type ServerEvent } from './conformance.ts';
import { answerExample } from './examples.ts';
import { sentenceOf } from './coherence.ts';
import { connect } from './harness.ts';
import { servedBy, targetOf } from './targets.ts';

const mock = targetOf('mock');
const operations = servedBy('mock');

describe.skipIf(!mock).each(Object.keys(services) as ServiceName[])('%s through the SDK', (service) => {
  const breaches: string[] = [];
  afterEach(() => expect(breaches.splice(0), 'answers that break the contract').toEqual([]));
  const { plinth } = connect({
    target: 'mock',
    url: mock?.url ?? '',
    rootToken: mock?.rootToken ?? '',
    onBreach: (breach) => breaches.push(breach),
  }).operator();

  const call = (operation: Operation, prefer?: string): Call =>
    methodOf(plinth, operation)(
      exampleMembers(operation),
      prefer === undefined ? {} : { headers: { prefer } },
    );

  const own = operations.filter((operation) => operation.service === service && !isFeed(operation));
  it.each(own.map((operation) => [titleOf(operation), operation] as const))('%s', async (_, operation) => {
    await succeeds(operation, call(operation));
    for (const status of otherStatuses(operation)) await answers(status, call(operation, `code=${status}`));
    for (const status of failures(operation))
      await fails(operation, status, call(operation, `code=${status}`));
  });
});

const statusesOf = ({ responses }: Operation): number[] => [
  ...new Set(responses.map(({ status }) => status)),
];
const failures = (operation: Operation) => statusesOf(operation).filter((status) => status >= 400);
/** Returns the success statuses of an operation, the usual one first. */
const successes = (operation: Operation) => statusesOf(operation).filter((status) => status < 400);
const otherStatuses = (operation: Operation) => successes(operation).slice(1);

/** Returns a test title such as `roles.create: 201, 400 401 403 404`. */
function titleOf(operation: Operation): string {
  const resource = operation.resource.charAt(0).toLowerCase() + operation.resource.slice(1);
  return `${resource}.${operation.method}: ${successes(operation).join(' or ')}, ${failures(operation).join(' ')}`;
}

async function succeeds(operation: Operation, call: Call): Promise<void> {
  const [status] = successes(operation);
  const { data, response } = await call.response();
  expect(response.status).toBe(status);
  const [contentType] = operation.responses.find((one) => one.status === status)!.contentTypes;
  if (contentType === 'text/event-stream') {
    const events = await walked(call);
    expect(events).not.toEqual([]);
    expect(events.flatMap((event) => eventBreaches(operation, event as ServerEvent))).toEqual([]);
  } else if (contentType !== undefined && contentType !== 'application/json' && operation.verb !== 'HEAD') {
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
  } else if (call[Symbol.asyncIterator] && data !== undefined) {
    expect(await walked(call)).not.toEqual([]);
  }
}

/** Checks that a requested status is answered. How the SDK delivers a redirect or a 304 is not checked. */
async function answers(status: number, call: Call): Promise<void> {
  const answered = await call.response().then(
    ({ response }) => response.status,
    (thrown: unknown) => (isPlinthError(thrown) ? thrown.status : thrown),
  );
  expect(answered).toBe(status);
}

async function fails(operation: Operation, status: number, call: Call): Promise<void> {
  const error = await call.response().then(
    ({ response }) => new Error(`was answered ${response.status}, not refused with ${status}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PlinthError)) throw error;
  expect(error.status, error.message).toBe(status);
  const example = answerExample(operation, status);
  if (operation.verb === 'HEAD' || example === undefined || typeof error.body === 'string') return;
  expect(error.body).toEqual(example);
  expect(error.message).toBe(sentenceOf(example));
}

async function walked(call: Call): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of call as AsyncIterable<unknown>) items.push(item);
  return items;
}
