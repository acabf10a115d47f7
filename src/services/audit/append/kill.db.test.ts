/** Tests that an event that was answered survives `kill -9`, and that the chain is whole afterwards. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditEvent } from '../../../../generated/audit/types.ts';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { anEvent, inTenant, tools } from '../testing.ts';

/** A service that is alone would have no prefix. */
const services = ['keys', 'audit'];
const own = inTenant('killed');

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

/** Records events one after the other until the server is gone. */
async function record(to: ChildServer, client: string, accepted: Map<string, AuditEvent>): Promise<void> {
  for (let at = 0; ; at++) {
    const idempotency_key = `${client}-${at}`;
    const body = { ...anEvent, user_id: `usr_${at % 5}`, idempotency_key, metadata: { client, at } };
    const answer = await to.request('POST', '/audit/v1/events', { ...own, body }).catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.status).toBe(201);
    accepted.set(idempotency_key, answer.body as AuditEvent);
  }
}

test('whatever was answered is stored once, and the chain is whole', { timeout: 180_000 }, async () => {
  server = await start();
  const accepted = new Map<string, AuditEvent>();
  for (let round = 0; round < 2; round++) {
    const [running, before] = [server, accepted.size];
    const clients = Array.from({ length: 8 }, (_, at) => record(running, `${round}-${at}`, accepted));
    const enough = before + 20 + Math.floor(Math.random() * 100);
    await until(() => accepted.size >= enough);
    await running.kill('SIGKILL');
    await Promise.all(clients);
    server = await start();
  }
  const api = tools(server);
  const stored = await everything(api);
  for (const event of accepted.values()) expect(stored.get(event.sequence)).toEqual(event);
  // What was stored but not answered is found by its key, and no key has two events.
  expect(new Set([...stored.values()].map(({ metadata }) => JSON.stringify(metadata))).size).toBe(
    stored.size,
  );
  for (const [idempotency_key, event] of [...accepted].slice(-20)) {
    const { user_id, metadata } = event;
    const body = { ...anEvent, user_id, metadata, idempotency_key };
    expect(await server.request('POST', '/audit/v1/events', { ...own, body })).toMatchObject({
      status: 200,
      body: event,
    });
  }
  expect(await api.verify({}, own)).toMatchObject({
    valid: true,
    verified: stored.size,
    last_event: stored.size,
  });
});

async function everything(api: ReturnType<typeof tools>): Promise<Map<number, AuditEvent>> {
  const found = new Map<number, AuditEvent>();
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await api.list(`?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`, own);
    for (const event of page.events) found.set(event.sequence, event);
    cursor = page.next_cursor;
  }
  return found;
}
