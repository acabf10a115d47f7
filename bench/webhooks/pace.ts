import { setTimeout as delay } from 'node:timers/promises';

/** Sends events to the tenants in turn at a steady rate, however long each takes, and resolves when all are accepted. */
export async function steadily(
  send: (tenant: string) => Promise<unknown>,
  tenants: readonly string[],
  { rate, count }: { readonly rate: number; readonly count: number },
): Promise<void> {
  const began = performance.now();
  const sent: Promise<unknown>[] = [];
  for (let nth = 0; nth < count; nth++) {
    const wait = began + (nth * 1_000) / rate - performance.now();
    if (wait > 0) await delay(wait);
    sent.push(send(tenants[nth % tenants.length]!));
  }
  await Promise.all(sent);
}
