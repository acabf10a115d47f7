/** The load of a drill: clients that enqueue jobs and send events, and the acknowledgements that they received. */
import { setTimeout as delay } from 'node:timers/promises';
import { headers } from '../place.ts';

export interface Load {
  /** Ids that were acknowledged. */
  readonly jobs: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
  /** The first few answers that no client should get. */
  readonly refusals: readonly string[];
  /** Milliseconds of each request that was answered, with the moment of its answer. */
  readonly answers: readonly { readonly at: number; readonly ms: number }[];
  stop(): Promise<void>;
}

/** Milliseconds that a job of the load takes. */
const jobMs = 100;
/** Milliseconds between two requests of a client. */
const pauseMs = 10;

/** Sends until stopped, to all servers in turn. A request without an answer is not repeated, because it was not acknowledged. */
export function startLoad(ports: readonly number[], tenants: readonly string[]): Load {
  const [jobs, events] = [new Set<string>(), new Set<string>()];
  const refusals: string[] = [];
  const answers: { at: number; ms: number }[] = [];
  let isOver = false;
  let nth = 0;

  async function send(path: string, body: object, tenant: string): Promise<string | undefined> {
    const began = performance.now();
    const answer = await post(ports[nth++ % ports.length]!, path, body, tenant).catch(() => undefined);
    if (answer === undefined) return undefined;
    answers.push({ at: performance.now(), ms: performance.now() - began });
    // While the database is unreachable, 503 is the right answer.
    if (answer.status >= 300 && answer.status !== 503 && refusals.length < 20)
      refusals.push(`${path}: ${answer.status} ${answer.text}`);
    return answer.status < 300 ? (JSON.parse(answer.text) as { id: string }).id : undefined;
  }

  async function client(tenant: string, path: string, body: object, seen: Set<string>): Promise<void> {
    while (!isOver) {
      const id = await send(path, body, tenant);
      if (id !== undefined) seen.add(id);
      await delay(pauseMs);
    }
  }

  const job = { name: 'works', queue: 'drill', payload: { ms: jobMs } };
  const event = { type: 'drill.done', data: { drill: true } };
  const clients = tenants.flatMap((tenant) => [
    client(tenant, '/jobs/v1/jobs', job, jobs),
    client(tenant, '/webhooks/events', event, events),
  ]);
  return {
    jobs,
    events,
    refusals,
    answers,
    async stop() {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export async function post(port: number, path: string, body: object, tenant?: string): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', ...(tenant && { 'X-Tenant-ID': tenant }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Returns the records of all pages of a list whose answer is the array of items and whose next cursor is in a header. */
export async function* listed(port: number, path: string): AsyncGenerator<Record<string, unknown>> {
  for (let cursor: string | null = ''; cursor !== null;) {
    const place: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const answer: Response = await fetch(`http://127.0.0.1:${port}${path}${place}`, { headers });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    yield* (await answer.json()) as Record<string, unknown>[];
    cursor = answer.headers.get('x-next-cursor');
  }
}
