import type { EventStream, Raw, RecordedStream } from './answer.ts';
import type { Attempt } from './attempt.ts';
import { orAborted } from './deadline.ts';
import { aborted, PlinthError, readEnvelope, requestIdOf } from './errors.ts';
import { eventParser, type EventParser, type WireEvent } from './event-parser.ts';
import type { Target } from './operation.ts';
import { sleep } from './retries.ts';

/** Milliseconds between the end of a stream and the next connection, unless the server says otherwise. */
const reconnectDelay = 1_000;

interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
}

type Connect = (lastEventId: string | undefined) => Promise<Attempt>;

/** Connects when a reader begins. A second loop connects again. */
export class ServerEvents<Event> implements EventStream<Event> {
  readonly #target: Target;
  readonly #connect: Connect;
  readonly #reconnect: boolean;
  readonly #signal: AbortSignal | undefined;
  #opened: Promise<Attempt> | undefined;

  constructor(target: Target, connect: Connect, reconnect: boolean, signal: AbortSignal | undefined) {
    this.#target = target;
    this.#connect = connect;
    this.#reconnect = reconnect;
    this.#signal = signal;
  }

  async response(): Promise<Raw<undefined>> {
    this.#opened ??= this.#connect(undefined);
    const { response, requestId } = await this.#opened;
    return { data: undefined, response, requestId };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void> {
    let connection = this.#opened ?? this.#connect(undefined);
    this.#opened = undefined;
    let lastEventId: string | undefined;
    for (;;) {
      const parser = eventParser();
      const opened = await connection;
      refuseOthers(this.#target, opened);
      try {
        for await (const event of wireEvents(opened, parser)) {
          lastEventId = event.id ?? lastEventId;
          const typed = typedEvent(this.#target, opened, event);
          if (typed) yield typed as Event;
        }
      } catch (thrown) {
        if (!this.#reconnect || !isCut(thrown)) throw thrown;
      }
      if (!this.#reconnect || opened.response.status === 204) return;
      await sleep(parser.retry ?? reconnectDelay, this.#signal).catch((reason: unknown) => {
        throw aborted(this.#target.name, reason);
      });
      connection = this.#connect(lastEventId);
    }
  }
}

/** Requests the events so far only when they are awaited. */
export class RecordedEvents<Event, Data> extends ServerEvents<Event> implements RecordedStream<Event, Data> {
  readonly #ask: () => PromiseLike<Data>;

  constructor(stream: ConstructorParameters<typeof ServerEvents>, ask: () => PromiseLike<Data>) {
    super(...stream);
    this.#ask = ask;
  }

  then<Kept = Data, Caught = never>(
    kept?: ((data: Data) => Kept | PromiseLike<Kept>) | null,
    caught?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): PromiseLike<Kept | Caught> {
    return this.#ask().then(kept, caught);
  }
}

/** Rejects a page or JSON, which would be read as a stream without events. */
function refuseOthers({ name }: Target, opened: Attempt): void {
  const { response, requestId, deadline } = opened;
  if (response.status === 204 || /^text\/event-stream\b/i.test(response.headers.get('Content-Type') ?? ''))
    return;
  deadline.end();
  response.body?.cancel().catch(() => {});
  const thrown = new PlinthError({
    kind: 'protocol',
    operation: name,
    message: `${name}: the answer is not an event stream`,
    status: response.status,
    requestId,
    headers: response.headers,
  });
  throw opened.failure(thrown);
}

/** Whether the connection was lost during the stream, in which case a new connection may help. */
const isCut = (thrown: unknown) =>
  thrown instanceof PlinthError && (thrown.kind === 'connection' || thrown.kind === 'timeout');

/** Reads the events of a connection. Silence for longer than the timeout is a lost connection, since an idle server sends comments. */
async function* wireEvents(opened: Attempt, parser: EventParser): AsyncGenerator<WireEvent, void> {
  const { response, deadline } = opened;
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  try {
    while (reader) {
      deadline.restart();
      const { done, value } = await orAborted(deadline.signal, reader.read());
      deadline.pause();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } catch (thrown) {
    throw opened.failure(thrown);
  } finally {
    deadline.end();
    // Not awaited: leaving the loop does not wait for the connection to close.
    reader?.cancel().catch(() => {});
  }
}

/** Returns undefined for events of a newer server, for which this client has no type. */
function typedEvent({ name, operation }: Target, opened: Attempt, wire: WireEvent): ServerEvent | undefined {
  const { event, data, id } = wire;
  const kind = operation.events?.[event];
  if (kind === undefined && event !== 'error') return undefined;
  const value = kind === 'text' ? data : parse(name, opened, data);
  if (kind !== undefined) return { event, data: value, ...(id !== undefined && { id }) };
  const { message = `${name}: the server ended the stream`, code } = readEnvelope(value);
  const requestId = requestIdOf(opened.response);
  const thrown = new PlinthError({
    kind: 'stream',
    operation: name,
    message,
    ...(code !== undefined && { code }),
    body: value,
    requestId,
  });
  throw opened.failure(thrown);
}

function parse(operation: string, opened: Attempt, data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    const message = `${operation}: an event is not JSON`;
    throw opened.failure(new PlinthError({ kind: 'protocol', operation, message, cause }));
  }
}
