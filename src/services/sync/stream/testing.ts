/* eslint-disable @typescript-eslint/no-explicit-any -- tests look into data of every shape */
import { eventParser, type WireEvent } from '../../../../sdk/src/runtime/event-parser.ts';

/** An open stream, as a client sees it. */
export interface OpenStream {
  readonly status: number;
  /** The body, of an answer that is no stream. */
  readonly body: string;
  /** Resolves with the next event; undefined at the end. */
  next(): Promise<{ event: string; id: string | undefined; data: any } | undefined>;
  /** Reads events until one satisfies the condition, and returns all of them. */
  until(
    isLast: (event: { event: string; data: any }) => boolean,
  ): Promise<{ event: string; id: string | undefined; data: any }[]>;
  /** Everything that was received. */
  readonly text: () => string;
  close(): Promise<void>;
}

export interface StreamOptions {
  readonly url: string;
  readonly rootToken: string;
  readonly tenant?: string;
  readonly last?: string | undefined;
}

export async function openStream(
  { url, rootToken, tenant, last }: StreamOptions,
  query: Record<string, string> = {},
): Promise<OpenStream> {
  const ending = new AbortController();
  const response = await fetch(`${url}?${new URLSearchParams(query)}`, {
    signal: ending.signal,
    headers: {
      authorization: `Bearer ${rootToken}`,
      ...(tenant !== undefined && { 'x-tenant-id': tenant }),
      ...(last !== undefined && { 'last-event-id': last }),
    },
  });
  const isStream = response.status === 200;
  const reader = isStream ? response.body!.getReader() : undefined;
  const body = isStream ? '' : await response.text();
  const [parser, decoder] = [eventParser(), new TextDecoder()];
  const waiting: WireEvent[] = [];
  let text = '';

  async function next() {
    while (waiting.length === 0) {
      const piece = await reader!.read().catch(() => ({ done: true as const, value: undefined }));
      if (piece.done) return undefined;
      const decoded = decoder.decode(piece.value, { stream: true });
      text += decoded;
      waiting.push(...parser.push(decoded));
    }
    const { event, id, data } = waiting.shift()!;
    return { event, id, data: JSON.parse(data) as unknown };
  }

  return {
    ...{ status: response.status, body, next },
    async until(isLast) {
      const found: { event: string; id: string | undefined; data: any }[] = [];
      for (let event = await next(); event !== undefined; event = await next()) {
        found.push(event);
        if (isLast(event)) return found;
      }
      throw new Error(`the stream ended after ${JSON.stringify(found)}`);
    },
    text: () => text,
    async close() {
      ending.abort();
      await reader?.cancel().catch(() => {});
    },
  };
}
