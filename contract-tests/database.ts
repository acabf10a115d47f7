import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import postgres from 'postgres';
import { pgliteServer } from './pglite-server.ts';

/** A separate database server for a test. Its connection to the server under test can be cut. */
export interface OwnDatabase {
  /** The value of DATABASE_URL. */
  readonly url: string;
  /** Breaks every connection and accepts no new ones. */
  cut(): Promise<void>;
  /** Accepts connections again. */
  heal(): Promise<unknown>;
  /** Runs a statement over a connection that cannot be cut. */
  run(statement: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts PGlite in memory behind a port, so that a machine without PostgreSQL can also run these tests. */
export async function startDatabase(): Promise<OwnDatabase> {
  const pg = await PGlite.create({ extensions: { vector } });
  const server = pgliteServer(pg);
  const behind = await listen(server, 0);
  const wire = await startWire(behind);
  const direct = postgres({
    host: '127.0.0.1',
    port: behind,
    user: 'postgres',
    database: 'postgres',
    max: 1,
    onnotice: () => {},
  });
  return {
    url: `postgres://postgres@127.0.0.1:${wire.port}/postgres`,
    cut: () => wire.cut(),
    heal: () => wire.heal(),
    async run(statement) {
      await direct.unsafe(statement);
    },
    async stop() {
      await wire.cut();
      await direct.end({ timeout: 1 });
      await closing(server);
      await pg.close();
    },
  };
}

/** Opens a port that forwards everything to another one until it is cut. */
async function startWire(to: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  const port = await listen(server, 0);
  return {
    port,
    heal: () => listen(server, port),
    async cut() {
      const closed = closing(server);
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function closing(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  await once(server, 'close');
}
