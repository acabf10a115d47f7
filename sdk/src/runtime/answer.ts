/** An answer together with its response. */
export interface Raw<Data> {
  readonly data: Data;
  /** Status and headers. The body has already been read, unless `data` is the response itself. */
  readonly response: Response;
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined;
}

/** Exists only for the compiler: ties an operation to its error bodies, for `isPlinthError`. */
declare const failure: unique symbol;

/** A call in progress: a promise of the answer's data. `Failure` is the type of its error bodies. */
export interface Answer<Data, Failure = unknown> extends Promise<Data> {
  /** Returns the data with the response's status and headers. Sends no further request. */
  response(): Promise<Raw<Data>>;
  readonly [failure]?: Failure;
}

/**
 * A list in progress: as a promise its first page, as an async iterable all its items. Pages are requested when the loop
 * reaches them. A page is the array of its items, or the object in which the service wraps them.
 */
export interface List<Item, Failure = unknown, Page = Item[]>
  extends Answer<Page, Failure>, AsyncIterable<Item> {}

/** Server-sent events, typed by their names. The request is sent when the loop begins. */
export interface EventStream<Event, Failure = unknown> extends AsyncIterable<Event> {
  /** Connects without reading. A loop that begins afterwards reads from this connection. */
  response(): Promise<Raw<undefined>>;
  readonly [failure]?: Failure;
}

/** A stream whose service keeps the events: as a promise the events so far, as an async iterable also the events to come. */
export interface RecordedStream<Event, Data, Failure = unknown>
  extends EventStream<Event, Failure>, PromiseLike<Data> {}

/**
 * A separate promise rather than one derived by `then`: a caller that only asks for the response or only walks the list would
 * leave a derived promise rejected and unhandled.
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
