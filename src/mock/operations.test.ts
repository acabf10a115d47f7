/** Tests every operation of the contract with the request from its examples. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { breaches } from '../../contract-tests/conformance.ts';
import { nameOf } from '../../contract-tests/contract.ts';
import { exampleRequest } from '../../contract-tests/requests.ts';
import { operations, services, type Operation, type ServiceName } from '../../generated/operations.ts';
import { exampleOfMedia, operationOf, readDocument } from './contract/document.ts';
import { startMock, type Mock } from './index.ts';

let mock: Mock;
let stateful: Mock;
beforeAll(async () => {
  const common = { port: 0, host: '127.0.0.1', log: { info() {} } };
  [mock, stateful] = await Promise.all([startMock(common), startMock({ ...common, stateful: true })]);
});
afterAll(() => Promise.all([mock.close(), stateful.close()]));

const names = Object.keys(services) as ServiceName[];

describe.each(names)('%s', { timeout: 60_000 }, (service) => {
  const own = operations.filter((operation) => operation.service === service);
  let document: ReturnType<typeof readDocument>;
  beforeAll(() => {
    document = readDocument(service, mock.url);
  });

  it('answers each operation as documented, with its example', async () => {
    const wrong: string[] = [];
    for (const operation of own) {
      const response = await send(mock, operation, {});
      wrong.push(...(await faults(operation, response, successesOf(operation))));
      wrong.push(...(await madeUp(operation, response)));
    }
    expect(wrong).toEqual([]);
  });

  it('answers each documented failure on request, in its envelope', async () => {
    const wrong: string[] = [];
    for (const operation of own) {
      for (const status of statusesOf(operation).filter((one) => one >= 400)) {
        const response = await send(mock, operation, { prefer: `code=${status}` });
        wrong.push(...(await faults(operation, response, [status])), ...(await madeUp(operation, response)));
      }
    }
    expect(wrong).toEqual([]);
  });

  it('answers each operation as documented from its memory, with the ids of the examples', async () => {
    const wrong: string[] = [];
    for (const operation of own) {
      const response = await send(stateful, operation, { 'x-tenant-id': operation.id });
      // The example request creates what already exists among the examples.
      const taken = operation.verb === 'POST' ? [409] : [];
      wrong.push(...(await faults(operation, response, [...successesOf(operation), ...taken])));
    }
    expect(wrong).toEqual([]);
  });

  it('refuses each operation without credentials as documented', async () => {
    const wrong: string[] = [];
    for (const operation of own.filter(({ access }) => access !== 'public')) {
      const { path, init } = exampleRequest(operation);
      const response = await fetch(`${mock.url}${path}`, { ...init, redirect: 'manual' });
      wrong.push(...(await faults(operation, response, [401])));
    }
    expect(wrong).toEqual([]);
  });

  async function faults(operation: Operation, response: Response, statuses: number[]): Promise<string[]> {
    if (statuses.includes(response.status)) return breaches(operation, response);
    return [`${nameOf(operation)}: answered ${response.status}: ${await response.text()}`];
  }

  /** Returns the parts of a JSON answer that differ from the document's example. */
  async function madeUp(operation: Operation, response: Response): Promise<string[]> {
    if (response.bodyUsed || response.headers.get('content-type') !== 'application/json') return [];
    const { content } = operationOf(document, operation.id).responses[response.status] ?? {};
    const text = await response.text();
    const example = exampleOfMedia(document, content!['application/json']!);
    return text === JSON.stringify(example) ? [] : [`${nameOf(operation)} ${response.status}: ${text}`];
  }
});

const statusesOf = ({ responses }: Operation) => [...new Set(responses.map(({ status }) => status))];

/** A plain request to a WebSocket is answered with 426. */
function successesOf(operation: Operation): number[] {
  const found = statusesOf(operation).filter((status) => status < 400);
  return found.includes(101) ? [426] : found;
}

function send(to: Mock, operation: Operation, headers: Record<string, string>): Promise<Response> {
  const { path, init } = exampleRequest(operation);
  return fetch(`${to.url}${path}`, {
    ...init,
    redirect: 'manual',
    headers: { accept: 'application/json', authorization: 'Bearer any', ...init.headers, ...headers },
  });
}
