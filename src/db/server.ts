import { toDomainError } from './errors.ts';
import { createLanes, type Lanes } from './lanes.ts';
import type { Log } from './log.ts';
import type { Listener } from './notices.ts';
import { type Limits, serverConnect, serverOptions, standard, unlimited } from './server-connection.ts';
import { serverListener } from './server-listener.ts';
import { createPool, type Pool } from './sql.ts';

/** What an engine gives to `openDatabase`. */
export interface Backend {
  readonly pool: Pool;
  readonly lanes: Lanes;
  readonly background: Pool;
  readonly listener: Listener | undefined;
  /** A transaction whose statements may take as long as they need. */
  maintenance: Lanes['transaction'];
  close(): Promise<void>;
}

const oldest = 15;
/**
 * A pool of connections to a PostgreSQL server. Every statement ends within a bounded time, whatever becomes of the server: the
 * server's own timeout stops slow ones, a silent connection is cut, and a new one is tried without waiting.
 */
export async function openServer({
  url,
  log,
  limits = standard,
}: {
  url: string;
  log: Log;
  limits?: Limits;
}): Promise<Backend> {
  const pool = createPool(serverOptions(6, limits), url);
  try {
    await checkVersion(pool);
  } catch (error) {
    await pool.end({ timeout: 0 });
    throw error;
  }
  const background = createPool(serverOptions(2, limits), url);
  const lanes = serverLanes(url, limits, 8);
  return {
    pool,
    lanes,
    background,
    listener: serverListener({ url, log, limits }),
    async maintenance(fn) {
      const lane = serverLanes(url, unlimited, 1);
      return lane.transaction(fn).finally(() => lane.close());
    },
    async close() {
      await lanes.close();
      await Promise.all([pool, background].map((each) => each.end({ timeout: limits.close / 1000 })));
    },
  };
}

function serverLanes(url: string, limits: Limits, max: number): Lanes {
  return createLanes(
    (connect) => createPool({ ...serverOptions(1, limits, connect), max_lifetime: null }, url),
    serverConnect(limits),
    { max, closeMs: limits.close },
  );
}

async function checkVersion(pool: Pool): Promise<void> {
  const [row] = await pool<{ number: string; name: string }[]>`
    select current_setting('server_version_num') as number, current_setting('server_version') as name
  `.catch((error: unknown) => {
    throw toDomainError(error);
  });
  const problem = versionProblem(Number(row?.number), row?.name ?? 'of no version');
  if (problem !== undefined) throw new Error(problem);
}

/** The sentence for a server that is too old. */
export function versionProblem(number: number, name: string): string | undefined {
  if (number >= oldest * 10_000) return undefined;
  return `the database is PostgreSQL ${name}, Plinth needs PostgreSQL ${oldest} or newer: set DATABASE_URL to one, or unset it to use the embedded database`;
}
