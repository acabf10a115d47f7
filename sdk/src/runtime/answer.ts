/** An answer with what surrounds it. */
export interface Raw<Data> {
  readonly data: Data;
  /** Status and headers. The body is read already, except where `data` is the response itself. */
  readonly response: Response;
  /** The server's log knows the request by it. */
  readonly requestId: string | undefined;
}

/** Exists only for the compiler: ties an operation to the bodies of its errors, for `isPlinthError`. */
declare const failure: unique symbol;

/** A call under way: a promise of the answer's data. `Failure` is what the bodies of its errors are. */
export interface Answer<Data, Failure = unknown> extends Promise<Data> {
  /** The data with the response's status and headers. Asks nothing anew. */
  response(): Promise<Raw<Data>>;
  readonly [failure]?: Failure;
}

/**
 * A list under way: as a promise its first page, as an async iterable all its items. Pages are asked for when the loop
 * gets to them. A page is the array of its items, or what the service wraps them in.
 */
export interface List<Item, Failure = unknown, Page = Item[]>
  extends Answer<Page, Failure>, AsyncIterable<Item> {}

/** Server-sent events, typed by their names. The request is sent when the loop begins. */
export interface EventStream<Event, Failure = unknown> extends AsyncIterable<Event> {
  /** Connects, without reading; a loop that begins afterwards reads from this connection. */
  response(): Promise<Raw<undefined>>;
  readonly [failure]?: Failure;
}

/** A stream whose service keeps the events: as a promise those so far, as an async iterable those to come as well. */
export interface RecordedStream<Event, Data, Failure = unknown>
  extends EventStream<Event, Failure>, PromiseLike<Data> {}

/**
 * A promise of its own rather than one derived by `then`: whoever only asks for the response or only walks the list
 * would leave the derived one rejected and unhandled.
 */
export class AnswerPromise<Data> implements Answer<Data> {
  readonly [Symbol.toStringTag] = 'Promise';
  readonly #raw: Promise<Raw<Data>>;

  constructor(raw: Promise<Raw<Data>>) {
    this.#raw = raw;
  }

  response(): Promise<Raw<Data>> {
    return this.#raw;
  }

  then<Kept = Data, Caught = never>(
    kept?: ((data: Data) => Kept | PromiseLike<Kept>) | null,
    caught?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.#raw.then(({ data }) => data).then(kept, caught);
  }

  catch<Caught = never>(
    caught?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Data | Caught> {
    return this.then(undefined, caught);
  }

  finally(done?: (() => void) | null): Promise<Data> {
    return this.then().finally(done);
  }
}
