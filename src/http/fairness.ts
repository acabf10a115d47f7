import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { subscriberOf } from '../lib/addresses.ts';
import { RateLimited, Unavailable } from '../lib/errors.ts';
import { nobody, type Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';
import { LastingConnections } from './lasting-connections.ts';
import type { Operation } from './operation.ts';
import { Turns } from './turns.ts';

/** The most credentials that are remembered as valid. */
const mostKnown = 10_000;

type Identify = (req: IncomingMessage, exchange: Exchange) => Caller | Promise<Caller>;

/**
 * Keeps one caller's requests from starving all others of the database. A caller is a credential that proved valid. A client without
 * a credential, or with one not seen yet, counts by its network address: made-up credentials do not win extra turns.
 */
export class Fairness {
  readonly #turns: Turns;
  /** The long-lived connections, which are also counted by caller. */
  readonly lasting = new LastingConnections();
  readonly #known = new LRUCache<string, true>({ max: mostKnown });

  constructor(turns = new Turns()) {
    this.#turns = turns;
  }

  /** The numbers of running and of waiting requests. */
  get counts(): { running: number; waiting: number } {
    return this.#turns.counts;
  }

  /** Identifies the caller. Looking up an unknown credential takes a turn. */
  identify(
    identify: Identify,
    req: IncomingMessage,
    exchange: Exchange,
    busy: () => Error,
  ): Caller | Promise<Caller> {
    const credential = req.headers.authorization ?? req.headers['x-api-key'];
    if (typeof credential !== 'string') return identify(req, exchange);
    if (this.#known.has(credential)) return this.#again(credential, identify(req, exchange));
    return this.run(subscriberOf(exchange.ip), busy, async () => {
      const caller = await identify(req, exchange);
      this.#known.set(credential, true);
      return caller;
    });
  }

  /** Runs the work of a caller when its turn comes. Rejects with the error of `busy` when too many requests wait. */
  async run<Result>(
    line: string,
    busy: () => Error,
    work: (turn: HeldTurn) => Promise<Result>,
  ): Promise<Result> {
    const turn = this.#turns.take(line, busy);
    if (turn) await turn;
    const held = new HeldTurn(this.#turns, this.lasting, line, busy);
    try {
      return await work(held);
    } finally {
      held.end();
    }
  }

  #again(credential: string, caller: Caller | Promise<Caller>): Caller | Promise<Caller> {
    if (!(caller instanceof Promise)) return caller;
    return caller.catch((error: unknown) => {
      this.#known.delete(credential);
      throw error;
    });
  }
}

/** The turn of one request, which gives it back while it only waits for something. */
export class HeldTurn {
  #isHeld = true;
  readonly #turns: Turns;
  readonly #lasting: LastingConnections;
  readonly #line: string;
  readonly #busy: () => Error;

  constructor(turns: Turns, lasting: LastingConnections, line: string, busy: () => Error) {
    this.#turns = turns;
    this.#lasting = lasting;
    this.#line = line;
    this.#busy = busy;
  }

  /**
   * Waits without occupying the turn; in the meantime the request counts as a long-lived connection. Rejects with the error of
   * `busy` when the caller has too many such connections, or when no turn becomes free afterwards.
   */
  async rest<T>(wait: () => Promise<T>): Promise<T> {
    const release = this.#lasting.take(this.#line, this.#busy);
    this.end();
    try {
      return await wait();
    } finally {
      release();
      await this.#turns.take(this.#line, this.#busy);
      this.#isHeld = true;
    }
  }

  end(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#turns.give(this.#line);
  }
}

/** The name of the queue in which the requests of a caller wait. */
export function lineOf(caller: Caller, ip: string): string {
  return caller === nobody ? subscriberOf(ip) : `${caller.tenant}\n${caller.credential.id}`;
}

/** The error for a caller that must retry later: 429 when the contract documents it but no 503, else 503. */
export function busyAnswer({ responses }: Operation): () => Error {
  const documents = (status: number) => responses.some((response) => response.status === status);
  const make = documents(503) || !documents(429) ? Unavailable : RateLimited;
  return () => make('too many requests at once, try again', { retryAfter: 1 });
}
