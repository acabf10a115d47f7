/** The program of the browser test, for a page and a worker: it uses the whole client against a server of another origin. */
import { createPlinth, isPlinthError, verifyWebhook } from '../src/index.ts';
import { all, failureOf, things } from './things.ts';

export interface Outcome {
  created: unknown;
  listed: number[];
  failure: Record<string, unknown>;
  repeated: unknown;
  events: unknown[];
  aborted: unknown;
  timedOut: unknown;
  unreachable: unknown;
  redirected: unknown;
  uploaded: unknown;
  downloaded: unknown;
  wrapped: unknown;
  recorded: unknown;
  verified: unknown;
}

/** Reads a download as it arrives: its headers first, then piece by piece. */
async function downloaded({ body, headers }: Response): Promise<unknown> {
  let text = '';
  const write = (piece: string) => void (text += piece);
  await body?.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write }));
  return [headers.get('ETag'), headers.get('Content-Type'), text];
}

/** Signs a webhook and verifies it, both with the functions of the browser. */
async function verified(): Promise<unknown> {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const [seconds, body] = [Math.floor(Date.now() / 1_000), '{"type":"größe"}'];
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  const text = new TextEncoder().encode(`evt_1.${seconds}.${body}`);
  const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
  const headers = new Headers({
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${base64(new Uint8Array(await crypto.subtle.sign('HMAC', imported, text)))}`,
  });
  return (await verifyWebhook(body, headers, `whsec_${base64(key)}`)).event;
}

const kindOf = async (call: PromiseLike<unknown>) => {
  const thrown = await failureOf(call);
  return isPlinthError(thrown) ? thrown.kind : String(thrown);
};

export async function run(baseUrl: string): Promise<Outcome> {
  const plinth = createPlinth({ baseUrl, token: 'token' });
  const client = things({ baseUrl, apiKey: 'key' });
  const controller = new AbortController();
  const watched: unknown[] = [];
  const watch = async () => {
    for await (const event of client.watch({}, { signal: controller.signal })) {
      watched.push(event);
      if (watched.length === 2) controller.abort();
    }
  };
  const aborted = await kindOf(watch());
  const failure = await failureOf(plinth.authz.roles.get({ roleId: 'role_missing' }, { retries: 0 }));
  return {
    created: await plinth.authz.roles.create(
      { body: { name: 'Editor' } },
      { tenant: 'acme', idempotencyKey: 'k' },
    ),
    listed: (await all(client.list({ limit: 2 }))).map(({ id }) => id),
    failure: { ...(failure as object), message: (failure as Error).message },
    repeated: await client.get({ id: 'busy-once' }),
    events: watched,
    aborted,
    timedOut: await kindOf(client.get({ id: 'slow' }, { timeout: 100, retries: 0 })),
    unreachable: await kindOf(things({ baseUrl: 'http://127.0.0.1:1', retries: 0 }).get({ id: '1' })),
    redirected: await kindOf(client.get({ id: 'elsewhere' })),
    uploaded: (
      await client.upload({ key: 'a/b', body: new Blob(['bytes'], { type: 'text/csv' }) }).response()
    ).response.status,
    downloaded: await downloaded(await client.download({ key: 'a/b' })),
    wrapped: (await all(plinth.billing.plans.list())).map(({ name }) => name),
    recorded: await client.record(),
    verified: await verified(),
  };
}

/** A worker answers with a message, a page calls `run`. */
const scope = globalThis as typeof globalThis & { run?: typeof run };
if (typeof document === 'undefined') {
  const baseUrl = new URL(scope.location.href).hash.slice(1);
  run(decodeURIComponent(baseUrl)).then(
    (outcome) => scope.postMessage(outcome),
    (thrown: unknown) => scope.postMessage({ thrown: String(thrown) }),
  );
} else scope.run = run;
