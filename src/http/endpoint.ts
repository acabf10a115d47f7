import type { IncomingMessage, ServerResponse } from 'node:http';
import { Internal } from '../lib/errors.ts';
import { accessCheck } from './access.ts';
import { answerShaper, type Shaped } from './answer.ts';
import { Call } from './call.ts';
import { nobody } from './caller.ts';
import { sendEvents } from './events.ts';
import { failure } from './failure.ts';
import type { Operation } from './operation.ts';
import { creates, repeatGuard } from './repeat.ts';
import { requestReader, type Wire } from './request.ts';
import { respond, respondHead, sendPieces } from './respond.ts';
import type { Mounted, RuntimeOptions } from './runtime.ts';
import type { Handler } from './service.ts';

/** Answers one request of one operation; never rejects. */
export type Endpoint = (
  req: IncomingMessage,
  res: ServerResponse,
  params: Readonly<Record<string, string>>,
) => Promise<void>;

/** The whole way of an operation's requests: who calls, may they, what do they ask, the handler, the answer. */
export function endpoint(
  operation: Operation,
  handler: Handler,
  mounted: Mounted,
  options: RuntimeOptions,
): Endpoint {
  const { identify, operatorTenant, metrics, idempotency, log } = options;
  const { contract } = mounted;
  const identifies = operation.access !== 'public' || operation.optionalCredentials === true;
  const allow = accessCheck(operation, operatorTenant);
  const read = requestReader(operation, mounted.validators[operation.id] ?? {});
  const shape = answerShaper(operation);
  const once = idempotency && creates(operation) ? repeatGuard(operation, idempotency, log) : undefined;
  const record = metrics.recorder(operation);
  const judge = (req: IncomingMessage) =>
    contract && ((wire: Wire) => contract.request(operation, req, wire));

  return async (req, res, params) => {
    const call = new Call(res, mounted.name, operatorTenant);
    const { exchange } = call;
    exchange.operation = operation;
    exchange.record = record;
    try {
      const caller = identifies ? identify(req, exchange) : nobody;
      exchange.caller = call.caller = caller instanceof Promise ? await caller : caller;
      allow(call.caller);
      // The validators have made the request what the handler's own type says; no common type can say so.
      const request = (await read(req, params, scopeOf(call), judge(req))) as never;
      const carryOut = async () => shape(call.reply, await handler(request, call));
      const shaped = once ? await once(req, call, request, carryOut) : await carryOut();
      await contract?.response(operation, req, shaped.head);
      await send(req, res, call, shaped, mounted, options);
    } catch (thrown) {
      await fail(thrown, operation, req, res, call, mounted, options);
    }
  };
}

/** What a tenant or an app in the request has to be: nobody has none. */
const scopeOf = (call: Call) => (call.caller === nobody ? undefined : call);

async function send(
  req: IncomingMessage,
  res: ServerResponse,
  call: Call,
  shaped: Shaped,
  { service }: Mounted,
  { log, ending }: RuntimeOptions,
): Promise<void> {
  if (shaped.kind === 'whole') return respond(res, call.exchange, shaped.head);
  respondHead(res, call.exchange, shaped.head);
  const body = shaped.kind === 'pieces' ? shaped.pieces : shaped.events;
  if (req.method === 'HEAD') {
    res.end();
    await body[Symbol.asyncIterator]().return?.();
  } else if (shaped.kind === 'pieces') await sendPieces(res, shaped.pieces);
  else {
    const told = (thrown: unknown) => failure(thrown, service, call.exchange, log).body;
    await sendEvents(res, { events: shaped.events, signal: ending, failure: told });
  }
  call.end();
}

/** The last resort of a request. In strict mode the error itself has to keep the contract, too. */
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
