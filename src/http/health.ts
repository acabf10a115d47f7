import type { RequestHandler } from 'express';

export interface Health {
  readonly live: RequestHandler;
  readonly ready: RequestHandler;
}

/** Milliseconds after which a database that does not answer counts as away. */
const patience = 2_000;

/** `/healthz` says that the process runs; `/readyz` that it can answer: the database is there and no shutdown has begun. */
export function createHealth(ping: () => Promise<unknown>, ending: AbortSignal): Health {
  return {
    live: (_req, res) => void res.json({ status: 'ok' }),
    ready: async (_req, res) => {
      const problem = ending.aborted ? 'shutting down' : await unreachable(ping);
      if (problem === undefined) res.json({ status: 'ready' });
      else res.status(503).json({ status: 'not ready', problem });
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
