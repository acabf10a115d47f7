/** Servers that the scripts of this folder start: found ready, asked, and ended. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

export interface Running {
  readonly url: string;
  readonly child: ChildProcess;
  /** Tells the server to end, once, and throws when it does not end well within half a minute. */
  stop(): Promise<void>;
}

/** Starts a server by the command of a page, and waits until it is ready. */
export async function running(
  [program = '', ...words]: readonly string[],
  port: number,
  options: SpawnOptions,
): Promise<Running> {
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const tell = (signal: NodeJS.Signals) => child.exitCode === null && child.kill(signal);
  let stopped: Promise<void> | undefined;
  const end = async () => {
    tell('SIGTERM');
    const late = setTimeout(() => tell('SIGKILL'), 30_000);
    const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
    clearTimeout(late);
    if (code !== 0 && signal !== 'SIGTERM') throw new Error(`the server ended with ${code ?? signal}`);
  };
  const stop = () => (stopped ??= end());
  try {
    await ready(url, child);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return { url, child, stop };
}

/** Waits until a server answers that it is ready. */
export async function ready(url: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline;) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const response = await fetch(`${url}/readyz`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} is not ready within two minutes`);
}

/** Sends JSON as a caller with this token, and returns the body of the answer, which must be a success. */
export async function ask(url: string, token: string, method: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
