import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The most requests of one connection that run at once. Their responses are sent in order, so more would only pile up. */
const most = 16;

/**
 * The most requests of all connections that wait because they were read together with others: a chunk may hold hundreds of short
 * requests. A connection that exceeds the limit is cut.
 */
const mostWaiting = 20_000;

interface Arrived {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Undocumented state that Node keeps on a socket. While `_paused` is true, Node does not resume the socket. */
interface Internals {
  _paused: boolean;
  readonly parser: { resume(): void } | null;
}

/** The requests of one connection. A request whose response the client has not taken still counts as running. */
class Pipeline {
  readonly #socket: Socket & Internals;
  readonly #waiting: Arrived[] = [];
  #running = 0;
  #full = false;
  #guarded = false;
  /** The response of the request that began last. */
  #last: ServerResponse | undefined;

  constructor(socket: Socket) {
    this.#socket = socket as Socket & Internals;
  }

  /** Whether the request may run now; otherwise it waits. Reading stops on a connection that has reached its limit. */
  admit(arrived: Arrived): boolean {
    const admitted = this.#running < most && this.#waiting.length === 0;
    if (admitted) this.begin(arrived);
    else this.#waiting.push(arrived);
    if (this.#running === most) this.#stopReading();
    return admitted;
  }

  begin({ res }: Arrived): void {
    this.#running++;
    this.#last = res;
  }

  /** Called when a response is sent; returns the next request to run, if any. */
  finish(): Arrived | undefined {
    this.#running--;
    const next = this.#waiting.shift();
    if (next) this.begin(next);
    else if (this.#full) this.#readOn();
    return next;
  }

  /** Whether a response announces that it is the last: later requests are not begun, and the client may send them elsewhere. */
  get closing(): boolean {
    return this.#last !== undefined && !this.#last.shouldKeepAlive;
  }

  /** Announces in the latest response that it is the last, unless its head is already sent. */
  end(): void {
    if (this.#last && !this.#last.headersSent) this.#last.shouldKeepAlive = false;
  }

  /** Drops the waiting requests and returns their number. */
  drop(): number {
    return this.#waiting.splice(0).length;
  }

  #stopReading(): void {
    this.#full = true;
    this.#guard();
    this.#socket.pause();
  }

  #readOn(): void {
    this.#full = false;
    // When the socket is paused, Node has its own reason and resumes the socket itself.
    if (this.#socket._paused || this.#socket.destroyed) return;
    this.#socket.parser?.resume();
    this.#socket.resume();
  }

  /** Node resumes the socket after each request body and each response, unless the socket is paused; so it reports that it is. */
  #guard(): void {
    if (this.#guarded) return;
    this.#guarded = true;
    let own = this.#socket._paused;
    Object.defineProperty(this.#socket, '_paused', {
      configurable: true,
      get: () => own || this.#full,
      set: (paused: boolean) => void (own = paused),
    });
  }
}

const key = Symbol('pipeline');

interface Carrier {
  [key]?: Pipeline;
}

export interface Pipelining {
  readonly handle: RequestListener;
  /** After this call every connection closes after the last running request on it. */
  end(): void;
}

/** Passes the requests of each connection to `handle`, a limited number at once. */
export function limitPipelining(handle: RequestListener): Pipelining {
  const pipelines = new Set<Pipeline>();
  let waiting = 0;
  let ending = false;

  function pipelineOf(socket: Socket & Carrier): Pipeline {
    const known = socket[key];
    if (known) return known;
    const pipeline = (socket[key] = new Pipeline(socket));
    pipelines.add(pipeline);
    socket.once('close', () => {
      pipelines.delete(pipeline);
      waiting -= pipeline.drop();
    });
    return pipeline;
  }

  function start(pipeline: Pipeline, { req, res }: Arrived): void {
    res.once('close', () => {
      const next = pipeline.finish();
      if (!next) return;
      waiting--;
      // Otherwise requests that are answered at once would run one after another before any other connection gets its turn.
      setImmediate(() => {
        if (!next.req.socket.destroyed) start(pipeline, next);
      });
    });
    if (ending) pipeline.end();
    handle(req, res);
  }

  return {
    handle(req, res) {
      const pipeline = pipelineOf(req.socket);
      const arrived = { req, res };
      if (ending && pipeline.closing) return;
      if (pipeline.admit(arrived)) start(pipeline, arrived);
      else if (++waiting > mostWaiting) req.socket.destroy();
    },
    end() {
      ending = true;
      for (const pipeline of pipelines) {
        waiting -= pipeline.drop();
        pipeline.end();
      }
    },
  };
}
