/** Tests that a stateful mock remembers everything that the contract can create. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameOf } from '../../../contract-tests/contract.ts';
import { exampleBody } from '../../../contract-tests/requests.ts';
import { operations, services, type Operation, type ServiceName } from '../../../generated/operations.ts';
import { readDocument } from '../contract/document.ts';
import { startMock, type Mock } from '../index.ts';
import { idIn, renamed, send } from '../testing.ts';
import type { Item } from '../contract/plans.ts';
import { resourcesOf } from '../contract/resources.ts';

let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ port: 0, host: '127.0.0.1', stateful: true, log: { info() {} } });
});
afterAll(() => mock.close());

type Values = Record<string, unknown>;

describe.each(Object.keys(services) as ServiceName[])('%s', (service) => {
  const own = operations.filter((operation) => operation.service === service);
  const { items, plans } = resourcesOf(readDocument(service), own);
  const made = own.flatMap((operation) => {
    const deed = plans.get(operation.id)?.deed;
    return deed?.does === 'create' ? [{ operation, resource: deed.resource }] : [];
  });

  it.skipIf(made.length === 0)(
    'what is made can be read, changed and removed',
    { timeout: 60_000 },
    async () => {
      const wrong: string[] = [];
      for (const { operation, resource } of made) {
        const tenant = `made-${operation.id}`;
        const keys = items.filter((item) => item.resource === resource).flatMap((item) => item.keys);
        const created = await send(
          mock,
          operation,
          tenant,
          { body: renamed(exampleBody(operation), keys) },
          wrong,
        );
        if (![201, 202].includes(created.status)) wrong.push(`${nameOf(operation)}: ${created.status}`);
        for (const item of items.filter((one) => one.resource === resource))
          await walk(item, tenant, idIn(created.body, resource.example['id']), wrong);
      }
      expect(wrong).toEqual([]);
    },
  );

  /** Reads, changes and removes the record through the operations of one of its paths. */
  async function walk(item: Item, tenant: string, id: string | undefined, wrong: string[]): Promise<void> {
    if (id === undefined || !item.keys.includes('id')) return;
    const by = (verb: string) => own.find(({ path, verb: one }) => path === item.path && one === verb);
    const parts = { parameters: { [item.parameter]: id } };
    const [get, change, deleting] = [by('GET'), by('PUT') ?? by('PATCH'), by('DELETE')];
    const remove = deleting && plans.get(deleting.id)?.deed.does === 'remove' ? deleting : undefined;
    const expected: [Operation | undefined, number[]][] = [
      [get, [200]],
      [change, [200]],
      [remove, [200, 202, 204]],
      [remove && get, [404]],
    ];
    for (const [operation, statuses] of expected) {
      if (!operation) continue;
      const { status, body } = await send(mock, operation, tenant, parts, wrong);
      const isIt = status !== 200 || operation === remove || (body as Values)['id'] === id;
      if (!statuses.includes(status) || !isIt)
        wrong.push(`${nameOf(operation)} of ${id}: ${status} ${JSON.stringify(body)}`);
    }
  }
});
