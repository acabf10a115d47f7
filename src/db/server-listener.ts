import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.ts';
import type { Listener } from './notices.ts';
import { type Limits, serverOptions } from './server-connection.ts';
import { createPool, type Pool } from './sql.ts';

/** Listens on a separate connection, which is reopened whenever it is lost, as often as necessary. */
export function serverListener({ url, log, limits }: { url: string; log: Log; limits: Limits }): Listener {
  return ({ onNotice, onListening }) => {
    const channels = new Set<string>();
    let connection: Pool | undefined;
    let closed = false;
    let running: Promise<void> | undefined;

    const listen = async (to: Pool, channel: string) => {
      await to`listen ${to(channel)}`;
      if (channels.has(channel)) onListening(channel);
    };

    /** Limits the wait: a connection that was lost silently never answers and never ends by itself. */
    async function withinSilence(statement: Promise<unknown>): Promise<void> {
      const answered = new AbortController();
      const late = delay(limits.silence, undefined, { signal: answered.signal }).then(() => {
        throw new Error('no answer from the database');
      });
      await Promise.race([statement, late]).finally(() => answered.abort());
    }

    /** Lasts as long as the connection; a periodic statement checks that the connection is alive. */
    async function session(): Promise<void> {
      const lost = new AbortController();
      const own = createPool(
        {
          ...serverOptions(1, limits),
          onnotify: onNotice,
          onclose: () => lost.abort(),
          max_lifetime: null,
        },
        url,
      );
      try {
        await withinSilence(own`select 1`);
        connection = own;
        for (const channel of channels) await listen(own, channel);
        while (!lost.signal.aborted && !closed && channels.size > 0) {
          await delay(limits.silence / 4, undefined, { signal: lost.signal }).catch(() => {});
          if (!lost.signal.aborted) await withinSilence(own`select 1`);
        }
      } finally {
        if (connection === own) connection = undefined;
        await own.end({ timeout: 0 });
      }
    }

    async function run(): Promise<void> {
      while (!closed && channels.size > 0) {
        await session().catch((error: unknown) => {
          if (!closed) log.warn({ err: error }, 'listening for notices was interrupted');
        });
        if (!closed) await delay(100);
      }
      running = undefined;
    }

    return {
      add(channel) {
        channels.add(channel);
        if (connection !== undefined) void listen(connection, channel).catch(() => {});
        else running ??= run();
      },
      remove(channel) {
        channels.delete(channel);
        const from = connection;
        if (from !== undefined) void from`unlisten ${from(channel)}`.catch(() => {});
      },
      async close() {
        closed = true;
        channels.clear();
        await connection?.end({ timeout: 0 });
        await running;
      },
    };
  };
}
