/** Measured servers run in separate processes, so that the load generator does not compete with them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Running {
  port: number;
  stop(): Promise<void>;
}

/**
 * Starts `bench/servers/<name>.ts`, which prints `{ "port": … }` when it listens. It ends when its standard input closes, so it
 * cannot outlive this process, however that ends.
 */
export async function start(
  name: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Running> {
  const file = fileURLToPath(new URL(`servers/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', PLINTH_PUBLIC_URL: 'http://127.0.0.1', ...env },
  });
  const ended = once(child, 'exit');
  child.stdin.on('error', () => {});
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('{"port"')) continue;
    return {
      port: (JSON.parse(line) as { port: number }).port,
      async stop() {
        child.stdin.end();
        const kill = setTimeout(() => child.kill('SIGKILL'), 15_000);
        await ended;
        clearTimeout(kill);
      },
    };
  }
  await ended;
  throw new Error(`${name} ended before it listened, with ${child.exitCode ?? child.signalCode}`);
}

/** Runs `use` while these servers run, and always stops them afterwards. */
export async function* withServers<Value, const Starts extends readonly Promise<Running>[]>(
  starts: Starts,
  use: (...servers: { [Index in keyof Starts]: Running }) => AsyncIterable<Value>,
): AsyncGenerator<Value> {
  const settled = await Promise.allSettled(starts);
  const servers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
    yield* use(...(servers as { [Index in keyof Starts]: Running }));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
