import type { IncomingMessage, ServerResponse } from 'node:http';
import { inRequest } from '../lib/request-scope.ts';
import { Internal } from '../lib/errors.ts';
import { accessCheck } from './access.ts';
import { answerShaper, type Shaped } from './answer.ts';
import { isRaw } from './body.ts';
import { boundCursor } from './bound-cursor.ts';
import { Call } from './call.ts';
import { nobody } from './caller.ts';
import { begun } from './encoded-stream.ts';
import { sendEvents } from './events.ts';
import type { Exchange } from './exchange.ts';
import { failure } from './failure.ts';
import { busyAnswer, type Fairness, lineOf } from './fairness.ts';
import type { Operation } from './operation.ts';
import { ownOrPlatform } from './own-credentials.ts';
import { creates, repeatGuard } from './repeat.ts';
import { requestReader, type Wire } from './request.ts';
import { respond, respondHead, sendPieces } from './respond.ts';
import { checkSingleHeaders } from './single-headers.ts';
import { standingRight } from './standing-right.ts';
import type { Mounted, RuntimeOptions } from './runtime.ts';
import type { Handler, OperationLimits } from './service.ts';
import { checkHandshake, checkOrigin, takeOver, upgrades } from './upgrade.ts';
import { writtenBackCheck } from './written-back.ts';

/** Answers one request of one operation; never rejects. */
export type Endpoint = (
  req: IncomingMessage,
  res: ServerResponse,
  params: Readonly<Record<string, string>>,
) => Promise<void>;

/** The complete handling of an operation's requests: identify, authorize, validate, run the handler, respond. */
export function endpoint(
  documented: Operation,
  handler: Handler,
  mounted: Mounted,
  options: RuntimeOptions,
  fairness: Fairness,
): Endpoint {
  const operation = withinLimits(documented, mounted.service.limits?.[documented.id]);
  const { identify, operator, metrics, idempotency, log } = options;
  const { contract } = mounted;
  const identifies = operation.access !== 'public' || operation.optionalCredentials === true;
  const allow = accessCheck(operation, operator);
  const read = requestReader(operation, mounted.validators[operation.id] ?? {});
  // A second check of the responses needs them whole.
  const shape = answerShaper(operation, contract === undefined);
  const once = idempotency && creates(operation) ? repeatGuard(operation, idempotency, log) : undefined;
  const record = metrics.recorder(operation);
  const bound = boundCursor(operation);
  const checkWrittenBack = writtenBackCheck(operation, mounted, options.operator);
  const busy = busyAnswer(operation);
  // A parsed body is complete before the request takes its turn; a streamed body arrives only as fast as the client sends it.
  const takesTurns = operation.body === null || !isRaw(operation.body);
  const refuses = operation.responses.some(({ status }) => status === 400);
  const changesProtocol = upgrades(operation);
  const { identify: own } = mounted.service;
  const identifyCaller =
    own === undefined
      ? (req: IncomingMessage, exchange: Exchange) => fairness.identify(identify, req, exchange, busy)
      : ownOrPlatform(own, operation.id, { identify, fairness, busy });
  const judge = (req: IncomingMessage) =>
    contract && ((wire: Wire) => contract.request(operation, req, wire));

  return async (req, res, params) => {
    const call = new Call(res, mounted.name, operator);
    const { exchange } = call;
    exchange.operation = operation;
    exchange.record = record;
    try {
      if (refuses) checkSingleHeaders(req);
      if (changesProtocol)
        checkOrigin(req, (origin) => options.admitsOrigin?.(req.url ?? '/', origin) ?? false);
      const caller = identifies ? identifyCaller(req, exchange) : nobody;
      exchange.caller = call.caller = caller instanceof Promise ? await caller : caller;
      allow(call.caller);
      if (changesProtocol) checkHandshake(req);
      const { request: given, written } = await read(req, params, scopeOf(call), judge(req));
      // The validators have ensured the handler's own request type; no common type can express that.
      const request = given as never;
      bound?.open(request, call);
      const carryOut = async () => {
        if (written) await checkWrittenBack?.(given, written, call);
        const result: unknown = await inRequest(exchange.requestId, () => handler(request, call));
        bound?.close(request, call, result);
        return shape(call.reply, result);
      };
      const work = () => (once ? once(req, call, request, carryOut) : carryOut());
      const shaped = takesTurns
        ? await fairness.run(lineOf(call.caller, exchange.ip), busy, (turn) => {
            call.turn = turn;
            return work();
          })
        : await work();
      await contract?.response(operation, req, shaped.head);
      const lasts = () => fairness.lasting.take(lineOf(call.caller, exchange.ip), busy);
      const check = async () => allow(await identifyCaller(req, exchange));
      if (shaped.kind === 'upgrade') {
        const release = lasts();
        const headers = { 'X-Request-ID': exchange.requestId, ...shaped.head.headers };
        const { ending } = options;
        return takeOver(req, res, { accept: shaped.accept, headers, ending, release });
      }
      if (shaped.kind !== 'events' || req.method === 'HEAD')
        return await send(operation, req, res, call, shaped, mounted, options);
      const release = await orClosed(shaped.events, lasts);
      const right = identifies ? standingRight(check) : undefined;
      const ending = right ? AbortSignal.any([options.ending, right.signal]) : options.ending;
      await send(operation, req, res, call, shaped, mounted, { ...options, ending }).finally(() => {
        right?.end();
        release();
      });
    } catch (thrown) {
      await fail(thrown, operation, req, res, call, mounted, options);
    }
  };
}

/** Closes events that cannot be sent, because the caller has too many streams already. */
async function orClosed<T>(events: AsyncIterable<unknown>, take: () => T): Promise<T> {
  try {
    return take();
  } catch (error) {
    await events[Symbol.asyncIterator]().return?.();
    throw error;
  }
}

/** Applies the limits that the settings of a service put in place of those in its contract. */
function withinLimits(operation: Operation, limits: OperationLimits | undefined): Operation {
  if (limits === undefined) return operation;
  const { bodyBytes, ...timeLimits } = limits;
  const { body } = operation;
  return {
    ...operation,
    body: body && { ...body, limit: bodyBytes ?? body.limit },
    timeLimits: { ...operation.timeLimits, ...timeLimits },
  };
}

const silenceMs = ({ timeLimits }: Operation): number | undefined =>
  timeLimits?.silence === undefined ? undefined : timeLimits.silence * 1000;

/** The scope that a tenant or an app in the request must match; `nobody` has no scope. */
const scopeOf = (call: Call) => (call.caller === nobody ? undefined : call);

async function send(
  operation: Operation,
  req: IncomingMessage,
  res: ServerResponse,
  call: Call,
  shaped: Exclude<Shaped, { kind: 'upgrade' }>,
  { service }: Mounted,
  { log, ending }: RuntimeOptions,
): Promise<void> {
  if (shaped.kind === 'whole') return respond(res, call.exchange, shaped.head);
  const told = (thrown: unknown) => failure(thrown, service, call.exchange, log).body;
  if (req.method === 'HEAD') {
    respondHead(res, call.exchange, shaped.head);
    res.end();
    const body = shaped.kind === 'pieces' ? shaped.pieces : shaped.events;
    await body[Symbol.asyncIterator]().return?.();
  } else if (shaped.kind === 'pieces') {
    const pieces = shaped.encoded ? await begun(shaped.pieces) : shaped.pieces;
    respondHead(res, call.exchange, shaped.head);
    await sendPieces(res, pieces, {
      silenceMs: silenceMs(operation),
      lastWords: shaped.encoded === 'lines' ? (thrown) => `${String(told(thrown))}\n` : undefined,
    });
  } else {
    respondHead(res, call.exchange, shaped.head);
    // The first event may be a long time coming.
    res.flushHeaders();
    await sendEvents(res, { events: shaped.events, signal: ending, failure: told });
  }
  call.end();
}

/** Answers with the error of a failed request. In strict mode the error response must keep the contract, too. */
async function fail(
  thrown: unknown,
  operation: Operation,
  req: IncomingMessage,
  res: ServerResponse,
  { exchange }: Call,
  { service, contract }: Mounted,
  { log }: RuntimeOptions,
): Promise<void> {
  let outgoing = failure(thrown, service, exchange, log);
  if (res.headersSent || res.closed) {
    res.destroy();
    return;
  }
  try {
    await contract?.response(operation, req, outgoing);
  } catch (breach) {
    outgoing = failure(Internal(breach), service, exchange, log);
  }
  respond(res, exchange, outgoing);
}
