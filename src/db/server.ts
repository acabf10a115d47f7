import { toDomainError } from './errors.ts';
import type { PoolFigures } from './figures.ts';
import { type Connect, openLane } from './lane.ts';
import { createLanes, type LaneOptions, type Lanes } from './lanes.ts';
import type { Log } from './log.ts';
import type { Listener } from './notices.ts';
import { createProbe, type Probe } from './probe.ts';
import { createReach } from './reach.ts';
import {
  type Limits,
  serverConnect,
  serverOptions,
  type ServerTarget,
  standard,
  unlimited,
} from './server-connection.ts';
import { serverListener } from './server-listener.ts';
import { createPool, type Sql } from './sql.ts';
import { createStatements } from './statements.ts';

/** What an engine provides to `openDatabase`. */
export interface Backend {
  readonly pool: Sql;
  readonly lanes: Lanes;
  readonly background: Sql;
  readonly listener: Listener | undefined;
  readonly probe: Probe;
  readonly figures: () => PoolFigures[];
  /** Calls `fn` when the embedded database has ended, so that it is unknown what was committed last. */
  readonly onLoss?: (fn: () => void) => void;
  /** Runs a transaction whose statements have no time limit. */
  maintenance: Lanes['transaction'];
  readonly close: () => Promise<void>;
}

const oldest = 15;
/** The most statements in flight, and the most transactions that wait for a connection: enough for many clients, but bounded. */
const maxWaiting = 2_000;

/** The most connections of a process, unless it is set. */
export const usualConnections = 20;
/** One is for notices, one for probes, and one finds out whether a silent server answers again. */
const reserved = 3;

/** How the connections of a process are shared out. A transaction holds its connection for longer than a statement. */
export function sharesOf(connections: number): Record<'statements' | 'transactions' | 'background', number> {
  const background = connections < usualConnections ? 2 : 3;
  const transactions = Math.ceil((connections - reserved - background) * 0.55);
  return { statements: connections - reserved - background - transactions, transactions, background };
}

/**
 * Opens connections to a PostgreSQL server. Every statement ends within a bounded time, whatever happens to the server: the server's
 * own timeout stops slow statements, a silent connection is cut, and all statements are refused at once while the server is silent.
 */
export async function openServer({
  url,
  log,
  limits = standard,
  connections = usualConnections,
}: {
  url: string;
  log: Log;
  limits?: Limits;
  connections?: number;
}): Promise<Backend> {
  const shares = sharesOf(connections);
  const connect = serverConnect(limits);
  const create = (own: Limits, settings: object = {}) => {
    return (connect: Connect<ServerTarget>) => {
      const { connection, ...options } = serverOptions(1, own, connect);
      return createPool({ ...options, connection: { ...connection, ...settings }, max_lifetime: null }, url);
    };
  };
  const reach = createReach({
    silenceMs: limits.silence,
    probe: () => openLane(create(limits), connect),
  });
  const options = (max: number): LaneOptions => ({
    max,
    maxWaiting,
    waitMs: limits.wait,
    closeMs: limits.close,
    reach,
  });
  const pool = createStatements(create(limits), connect, options(shares.statements));
  try {
    await checkVersion(pool.sql);
  } catch (error) {
    await Promise.all([pool.close(), reach.close()]);
    throw error;
  }
  // Statements of the background are few and always the same, and planning one again often takes longer than executing it.
  const background = createStatements(
    create(limits, { plan_cache_mode: 'force_generic_plan' }),
    connect,
    options(shares.background),
  );
  const lanes = createLanes(create(limits), connect, options(shares.transactions));
  const probe = createProbe(createStatements(create(limits), connect, options(1)));
  return {
    pool: pool.sql,
    lanes,
    background: background.sql,
    listener: serverListener({ url, log, limits }),
    probe,
    figures: () => [
      { pool: 'statements', ...pool.figures() },
      { pool: 'transactions', ...lanes.figures() },
      { pool: 'background', ...background.figures() },
    ],
    async maintenance(fn) {
      const lane = createLanes(create(unlimited), connect, { max: 1, maxWaiting: 0, closeMs: limits.close });
      return lane.transaction(fn).finally(() => lane.close());
    },
    async close() {
      await probe.close();
      await lanes.close();
      await Promise.all([pool.close(), background.close(), reach.close()]);
    },
  };
}

async function checkVersion(sql: Sql): Promise<void> {
  const [row] = await sql<{ number: string; name: string }[]>`
    select current_setting('server_version_num') as number, current_setting('server_version') as name
  `.catch((error: unknown) => {
    throw toDomainError(error);
  });
  const problem = versionProblem(Number(row?.number), row?.name ?? 'of no version');
  if (problem !== undefined) throw new Error(problem);
}

/** Returns the message for a server that is too old, else undefined. */
export function versionProblem(number: number, name: string): string | undefined {
  if (number >= oldest * 10_000) return undefined;
  return `the database is PostgreSQL ${name}, Plinth needs PostgreSQL ${oldest} or newer: set DATABASE_URL to one, or unset it to use the embedded database`;
}
