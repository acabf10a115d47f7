import type { ServerResponse } from 'node:http';
import { isOperator, type Operator } from './access.ts';
import { covers, nobody, type Caller } from './caller.ts';
import type { CallerSession, Context, Credential, Reply } from './context.ts';
import { exchangeOf, type Exchange } from './exchange.ts';
import type { HeldTurn } from './fairness.ts';

/** The context of one request: the caller, and the state that belongs to this request alone. */
export class Call implements Context {
  caller: Caller = nobody;
  readonly reply = new Answer();
  readonly exchange: Exchange;
  /** Undefined while the request has none. */
  turn: HeldTurn | undefined;
  readonly #res: ServerResponse;
  readonly #service: string;
  readonly #operator: Operator;
  #abort: AbortController | undefined;

  constructor(res: ServerResponse, service: string, operator: Operator) {
    this.exchange = exchangeOf(res);
    this.#res = res;
    this.#service = service;
    this.#operator = operator;
  }

  get tenant(): string {
    return this.caller.tenant;
  }
  get app(): string {
    return this.caller.app;
  }
  get actor(): string {
    return this.caller.actor;
  }
  get userId(): string | null {
    return this.caller.userId;
  }
  get subjectId(): string | null {
    return this.caller.subjectId;
  }
  get credential(): Credential {
    return this.caller.credential;
  }
  get session(): CallerSession | null {
    return this.caller.session;
  }
  get scopes(): readonly string[] {
    return this.caller.scopes;
  }
  get operator(): boolean {
    return isOperator(this.caller, this.#service, this.#operator);
  }
  get authorization(): string | undefined {
    return this.#res.req.headers.authorization;
  }
  get cookie(): string | undefined {
    return this.#res.req.headers.cookie;
  }
  get idempotencyKey(): string | undefined {
    const key = this.#res.req.headers['idempotency-key'];
    return typeof key === 'string' ? key : undefined;
  }
  get requestId(): string {
    return this.exchange.requestId;
  }
  get ip(): string {
    return this.exchange.ip;
  }
  get userAgent(): string | null {
    return this.#res.req.headers['user-agent']?.slice(0, 512) ?? null;
  }

  /** Created on first use, because most handlers never need it. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = (this.#abort = new AbortController());
      if (this.#res.closed) abort.abort();
      else this.#res.once('close', () => this.#res.writableFinished || abort.abort());
    }
    return this.#abort.signal;
  }

  rest<T>(wait: () => Promise<T>): Promise<T> {
    return this.turn === undefined ? wait() : this.turn.rest(wait);
  }

  /** Aborts the signal when the server itself ends a stream. */
  end(): void {
    this.#abort?.abort();
  }

  admitOrigins(origins: readonly string[]): void {
    const { origin } = this.#res.req.headers;
    if (origin === undefined || !(origins.includes('*') || origins.includes(origin))) return;
    this.#res.setHeader('Access-Control-Allow-Origin', origin);
    this.#res.setHeader('Access-Control-Expose-Headers', '*');
    this.#res.setHeader('Vary', 'Origin');
  }

  holds(scope: string): boolean {
    return covers(this.caller.scopes, scope);
  }
}

/** The status and headers that the handler set besides its return value. */
export class Answer implements Reply {
  statusCode: number | undefined;
  headers: Record<string, string | readonly string[]> | undefined;

  status(code: number): void {
    this.statusCode = code;
  }

  header(name: string, value: string | number | readonly string[]): void {
    (this.headers ??= {})[name] = typeof value === 'number' ? String(value) : value;
  }
}
