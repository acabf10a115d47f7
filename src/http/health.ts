import type { RequestHandler } from 'express';

export interface Health {
  readonly isReady: () => Promise<boolean>;
  readonly live: RequestHandler;
  readonly ready: RequestHandler;
}

/** Milliseconds after which a database that does not answer counts as unreachable. */
const patience = 2_000;

/**
 * `/healthz` reports that the process runs; `/readyz` reports that it can answer requests: the database is reachable, and no
 * shutdown has begun (`draining` is aborted when one begins).
 */
export function createHealth(ping: () => Promise<unknown>, draining: AbortSignal): Health {
  const problem = async () => (draining.aborted ? 'shutting down' : await unreachable(ping));
  return {
    isReady: async () => (await problem()) === undefined,
    live: (_req, res) => void res.json({ status: 'ok' }),
    ready: async (_req, res) => {
      const found = await problem();
      if (found === undefined) res.json({ status: 'ready' });
      else res.status(503).json({ status: 'not ready', problem: found });
    },
  };
}

async function unreachable(ping: () => Promise<unknown>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), patience);
  });
  try {
    await Promise.race([ping(), late]);
    return undefined;
  } catch {
    return 'database not reachable';
  } finally {
    clearTimeout(timer);
  }
}
