/** Tests that a push that was answered survives `kill -9`, and that none counts twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { testNode, tools } from '../testing.ts';

/** A service that is alone would have no prefix. */
const services = ['keys', 'sync'];

let db: ChildDatabase;
let server: ChildServer | undefined;
beforeAll(async () => {
  db = await childDatabase(services);
});
afterAll(async () => {
  await server?.kill('SIGKILL');
  await db.remove();
});

const start = () => childServer({ services, env: { PLINTH_CONTRACT: 'fast', ...db.env } });

/** What a node was told, and what it tried last. */
interface Told {
  acknowledged: number;
  tried: number;
}

/** Pushes a higher total and a new record each time, until the server is gone; what had no answer is pushed again first. */
async function push(to: ChildServer, id: string, told: Told): Promise<void> {
  const node = testNode(id);
  for (;;) {
    const next = told.acknowledged + 1;
    told.tried = next;
    const Changes = [node.count('all', { inc: next, dec: 0 }), node.write(`${id}-${next}`, next)];
    const body = { NodeID: id, Changes };
    const answer = await to.request('POST', '/sync/push', { body }).catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.status).toBe(200);
    told.acknowledged = next;
  }
}

test('whatever was answered is stored, once', { timeout: 240_000 }, async () => {
  server = await start();
  const nodes = new Map<string, Told>(
    Array.from({ length: 8 }, (_, n) => [`n${n}`, { acknowledged: 0, tried: 0 }]),
  );
  const acknowledged = () => [...nodes.values()].reduce((sum, one) => sum + one.acknowledged, 0);
  for (let round = 0; round < 3; round++) {
    const running = server;
    const enough = acknowledged() + 20 + Math.floor(Math.random() * 200);
    const pushing = [...nodes].map(([id, told]) => push(running, id, told));
    await until(() => acknowledged() >= enough);
    await running.kill('SIGKILL');
    await Promise.all(pushing);
    server = await start();
  }
  const api = tools(server);
  const { inc } = (await api.record('all')).fields['views']!.counter_state!;
  const { changes } = await api.pullAll({ Limit: 10_000 });
  const keys = new Set(changes.map(({ pk }) => pk));
  for (const [id, told] of nodes) {
    expect(inc[id]).toBeGreaterThanOrEqual(told.acknowledged);
    expect(inc[id]).toBeLessThanOrEqual(told.tried);
    for (let n = 1; n <= told.acknowledged; n++) expect(keys).toContain(`${id}-${n}`);
  }
});
