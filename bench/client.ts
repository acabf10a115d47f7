/** Single requests to a server, for measuring what happens between two of them. */
import { headers } from './place.ts';

/** Sends one request as root and returns the answer's body, if it has one. @throws Error unless it succeeds */
export async function call<Answer>(
  port: number,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}

/** Returns the milliseconds until `holds` returns true, polling without a pause. Gives up after ten seconds. */
export async function until(holds: () => Promise<boolean>): Promise<number> {
  const started = performance.now();
  while (!(await holds()))
    if (performance.now() - started > 10_000)
      throw new Error('what was written did not become visible in 10 s');
  return performance.now() - started;
}
