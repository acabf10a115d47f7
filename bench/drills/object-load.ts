/** Clients that store, copy, complete and delete objects, and know what each key may hold. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { token } from '../place.ts';

/** The digest of the content under a key; null when there is none. */
type State = string | null;

export interface ObjectLoad {
  /** How many requests the server acknowledged, by what they did. */
  readonly acknowledged: Readonly<Record<string, number>>;
  /** How many requests their clients cut off. */
  readonly cut: () => number;
  /** Answers that no client expects. */
  readonly wrong: readonly string[];
  readonly stop: () => Promise<void>;
  /** Reads everything back and returns what is not as it was acknowledged. */
  readonly verify: () => Promise<string[]>;
}

const clients = 8;
const keysPerClient = 6;
/** The share of the requests that their clients cut off, and the milliseconds within which they do. */
const cutOff = { share: 0.05, withinMs: 40 };
export const bucket = 'drill';

/** @param name the beginning of its keys, which no other load has */
export function startObjectLoad(port: number, name: string): ObjectLoad {
  const acknowledged: Record<string, number> = { put: 0, copy: 0, complete: 0, delete: 0 };
  const wrong: string[] = [];
  /** What each key may hold. After a request without an answer that is one state more. */
  const states = new Map<string, Set<State>>();
  /** How often each key was given up for another one. */
  const retired = new Map<string, number>();
  let stopped = false;
  let cuts = 0;

  const send = (
    method: string,
    path: string,
    { body, type = 'application/octet-stream', withinMs = 20_000 }: Sending = {},
  ) =>
    fetch(`http://127.0.0.1:${port}/store/v1/buckets/${bucket}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: body as BodyInit }),
      signal: AbortSignal.timeout(withinMs),
    });

  /** After a request was cut off the server may still be at work, so that a later change of the key might come first. */
  function retire(key: string): void {
    cuts += 1;
    const place = key.replace(/#\d+$/, '');
    retired.set(place, (retired.get(place) ?? 0) + 1);
  }

  /** Runs one change of a key to a new state. Without an answer nobody knows whether it took place. */
  async function change(
    kind: string,
    key: string,
    next: State,
    run: (sending: Sending) => Promise<Response>,
  ): Promise<void> {
    const before = states.get(key) ?? new Set<State>([null]);
    states.set(key, new Set([...before, next]));
    const isCut = Math.random() < cutOff.share && !stopped;
    const sending = isCut ? { withinMs: Math.ceil(Math.random() * cutOff.withinMs) } : {};
    const answer = await run(sending).catch((error: Error) => {
      if (isCut && error.name === 'TimeoutError') retire(key);
    });
    if (!answer || answer.status >= 500) return void (await delay(20));
    await answer.text().catch(() => '');
    if (answer.status < 300 || (kind === 'delete' && answer.status === 404)) {
      states.set(key, new Set([next]));
      acknowledged[kind]! += 1;
    } else {
      states.set(key, before);
      wrong.push(`${kind}: ${answer.status}`);
    }
  }

  const json = (method: string, path: string, body: object, sending: Sending = {}) =>
    send(method, path, { ...sending, body: JSON.stringify(body), type: 'application/json' });

  async function complete(key: string, parts: readonly Buffer[]): Promise<void> {
    const begun = await json('POST', '/uploads', { key }).catch(() => undefined);
    if (begun?.status !== 201) return void (await delay(20));
    const { id } = (await begun.json()) as { id: string };
    const sent = await Promise.all(
      parts.map((part, place) =>
        send('PUT', `/uploads/${id}/parts/${place + 1}`, { body: part }).catch(() => undefined),
      ),
    );
    if (sent.some((answer) => answer?.status !== 200)) return;
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    await change('complete', key, digestOf(Buffer.concat(parts)), (sending) =>
      json('POST', `/uploads/${id}/complete`, { size }, sending),
    );
  }

  async function client(number: number): Promise<void> {
    const keyOf = (place: number) => {
      const key = `${name}/client-${number}/key ${place}`;
      return `${key}#${retired.get(key) ?? 0}`;
    };
    while (!stopped) {
      const key = keyOf(Math.floor(Math.random() * keysPerClient));
      const source = keyOf(Math.floor(Math.random() * keysPerClient));
      const known = [...(states.get(source) ?? [null])];
      const kind = Math.random();
      if (kind < 0.45) {
        const content = someBytes();
        await change('put', key, digestOf(content), (sending) =>
          send('PUT', pathOf(key), { ...sending, body: content }),
        );
      } else if (kind < 0.65 && known.length === 1 && known[0] !== null) {
        await change('copy', key, known[0]!, (sending) =>
          json('POST', '/copy', { source_key: source, key }, sending),
        );
      } else if (kind < 0.85) {
        await complete(key, [someBytes(), someBytes(), someBytes()]);
      } else {
        await change('delete', key, null, (sending) => send('DELETE', pathOf(key), sending));
      }
    }
  }

  async function stateOf(key: string): Promise<State> {
    const answer = await send('GET', pathOf(key));
    const content = Buffer.from(await answer.arrayBuffer());
    return answer.status === 404
      ? null
      : answer.status === 200
        ? digestOf(content)
        : `status ${answer.status}`;
  }

  async function listedKeys(): Promise<string[]> {
    const keys: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const answer = await send(
        'GET',
        `/objects?limit=1000&prefix=${name}/${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      const page = (await answer.json()) as { objects: { key: string }[]; cursor: string | null };
      keys.push(...page.objects.map(({ key }) => key));
      cursor = page.cursor;
    }
    return keys;
  }

  const running = Array.from({ length: clients }, (_, number) => client(number));
  return {
    acknowledged,
    cut: () => cuts,
    wrong,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
    async verify() {
      const faults: string[] = [];
      for (const [key, possible] of states) {
        const state = await stateOf(key).catch((error: unknown) => `error ${String(error)}`);
        if (!possible.has(state)) faults.push(`${key} holds ${state ?? 'nothing'}`);
        states.set(key, new Set([state]));
      }
      for (const key of await listedKeys())
        if ((states.get(key)?.has(null) ?? true) === true) faults.push(`${key} is listed`);
      return faults;
    },
  };
}

interface Sending {
  readonly body?: string | Buffer;
  readonly type?: string;
  /** Milliseconds after which the client cuts the request off. */
  readonly withinMs?: number;
}

/** Some content is short enough to be kept in the database. */
const someBytes = () =>
  randomBytes(Math.random() < 0.3 ? 2_000 : 20_000 + Math.floor(Math.random() * 400_000));

const digestOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

const pathOf = (key: string) => `/objects/${key.split('/').map(encodeURIComponent).join('/')}`;
