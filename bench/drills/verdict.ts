/** The fate of everything that the servers acknowledged during a drill. */
import { setTimeout as delay } from 'node:timers/promises';
import { listed, type Load, post } from './load.ts';
import type { DrillReceiver } from './receiver.ts';

/** The types of the events that are answered, and of the events whose first request hangs. */
export const [doneType, heldType] = ['drill.done', 'drill.held'];

/**
 * Creates the prerequisites of the events: their types, and for each tenant an endpoint that answers and one that hangs at first.
 */
export async function subscribe(
  port: number,
  tenants: readonly string[],
  receiver: DrillReceiver,
): Promise<void> {
  for (const name of [doneType, heldType]) await made(port, '/webhooks/event-types', { name });
  for (const tenant of tenants) {
    const done = { url: `${receiver.url}/now`, event_types: [doneType] };
    const held = { url: `${receiver.url}/hang`, event_types: [heldType], timeout: '30s' };
    for (const endpoint of [done, held]) await made(port, '/webhooks/endpoints', endpoint, tenant);
  }
}

/** @throws Error unless it is created */
export async function made(port: number, path: string, body: object, tenant?: string): Promise<string> {
  const { status, text } = await post(port, path, body, tenant);
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  return (JSON.parse(text) as { id: string }).id;
}

/** Waits until everything that was acknowledged has ended, and returns how much of it has not. */
export async function lostOf(
  port: number,
  { load, taken }: { readonly load: Load; readonly taken: ReadonlySet<string> },
  patienceMs: number,
): Promise<number> {
  for (const until = performance.now() + patienceMs; ;) {
    const jobs = new Set(load.jobs);
    for (const state of ['completed', 'failed'])
      for await (const { id } of listed(port, `/jobs/v1/jobs?limit=200&state=${state}`))
        jobs.delete(String(id));
    const lost = jobs.size + [...load.events].filter((id) => !taken.has(id)).length;
    if (lost === 0 || performance.now() > until) return lost;
    await delay(500);
  }
}
