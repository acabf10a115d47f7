/**
 * A cheap load generator: keep-alive connections over raw sockets, one request in flight on each, and request bytes prepared in
 * advance. Every answer is checked, so that fast errors do not count as speed.
 */
import { connect, type Socket } from 'node:net';
import { scale } from './scale.ts';
import { quantile } from './statistics.ts';

export interface Request {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Text is sent as a form, anything else as JSON. */
  body?: unknown;
}

export interface LoadOptions {
  port: number;
  /** One request, or many that rotate over all connections. */
  requests: Request | readonly Request[];
  connections?: number;
  seconds?: number;
  /** Sends each request once, however long that takes. */
  once?: boolean;
  /** The text that every answer with status 200 must contain. */
  contains?: string;
  /** Whether a client that gets a 429 retries when the answer says. Without it, a refusal is a failure. */
  comesBack?: boolean;
}

export interface LoadResult {
  /** Answers per second. */
  rate: number;
  /** In milliseconds. */
  p50: number;
  p99: number;
  answers: number;
  /** Milliseconds of each answer. */
  latencies: readonly number[];
  /** Milliseconds of each 429. These do not count as answers. */
  refusals: readonly number[];
}

export async function load(options: LoadOptions): Promise<LoadResult> {
  const { port, connections = 32, seconds = 2, once = false, contains = '', comesBack = false } = options;
  const next = turns(prepared(options.requests, port), once);
  const latencies: number[] = [];
  const refusals: number[] = [];
  const started = performance.now();
  const deadline = once ? Infinity : started + seconds * 1000 * Math.max(scale, 0.15);
  const run = {
    next: () => (performance.now() < deadline ? next() : undefined),
    contains: Buffer.from(contains),
    seen: (milliseconds: number) => void latencies.push(milliseconds),
    refused: comesBack ? (milliseconds: number) => void refusals.push(milliseconds) : undefined,
  };
  await Promise.all(Array.from({ length: connections }, () => drive(port, run)));
  const elapsed = (performance.now() - started) / 1000;
  return {
    rate: latencies.length / elapsed,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    answers: latencies.length,
    latencies,
    refusals,
  };
}

const ready = new WeakMap<object, { port: number; bytes: Buffer[] }>();

/** Returns the bytes of the requests, built once for all runs against one server. */
function prepared(requests: LoadOptions['requests'], port: number): readonly Buffer[] {
  const known = ready.get(requests);
  if (known?.port === port) return known.bytes;
  const bytes = [requests].flat().map((request) => serialise(request, port));
  ready.set(requests, { port, bytes });
  return bytes;
}

/** Returns the next request at each call. Repeated runs begin at a random request, so that they do not all send the same few. */
function turns(requests: readonly Buffer[], once: boolean): () => Buffer | undefined {
  let turn = once ? 0 : Math.floor(Math.random() * requests.length);
  return once ? () => requests[turn++] : () => requests[turn++ % requests.length];
}

function serialise({ method = 'POST', path, headers = {}, body }: Request, port: number): Buffer {
  const isForm = typeof body === 'string';
  const text = body === undefined ? '' : isForm ? body : JSON.stringify(body);
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  const lines = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`];
  if (text) lines.push(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(text)}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

interface Run {
  /** Returns the next request, or undefined when the run is over. */
  next: () => Buffer | undefined;
  contains: Buffer;
  seen: (milliseconds: number) => void;
  /** Undefined when no request may be refused. */
  refused: ((milliseconds: number) => void) | undefined;
}

function drive(port: number, { next, contains, seen, refused }: Run): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let received: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    let over = false;
    const send = () => {
      const bytes = next();
      over = bytes === undefined;
      sentAt = performance.now();
      if (bytes === undefined) socket.end();
      else socket.write(bytes);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', () => (over ? resolve() : reject(new Error('the server closed a connection'))));
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const end = endOfAnswer(received);
      if (end < 0) return;
      const milliseconds = performance.now() - sentAt;
      const status = received.toString('latin1', 9, 12);
      const wait = refused && status === '429' ? secondsToWait(received) : undefined;
      if (wait !== undefined) {
        refused?.(milliseconds);
        setTimeout(send, wait * 1000);
      } else if (status === '200' && received.includes(contains)) {
        seen(milliseconds);
        send();
      } else return fail(socket, reject, received);
      received = received.subarray(end);
    });
  });
}

function fail(socket: Socket, reject: (reason: Error) => void, received: Buffer): void {
  reject(new Error(`unexpected answer: ${received.toString('utf8', 0, 600)}`));
  socket.destroy();
}

/** Returns the seconds in the answer's `Retry-After` header. */
function secondsToWait(received: Buffer): number | undefined {
  const said = /^retry-after: (\d+)\r$/im.exec(
    received.toString('latin1', 0, received.indexOf('\r\n\r\n') + 2),
  )?.[1];
  return said === undefined ? undefined : Number(said);
}

/** Returns where the first received answer ends, or -1 while it is incomplete. */
function endOfAnswer(received: Buffer): number {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return -1;
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, head))?.[1] ?? '0';
  const end = head + 4 + Number(length);
  return received.length >= end ? end : -1;
}
