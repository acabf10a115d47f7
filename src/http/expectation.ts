import type { IncomingMessage, ServerResponse } from 'node:http';

/** Requests whose clients wait for `100 Continue` before they send the body, with the response to each. */
const waiting = new WeakMap<IncomingMessage, { res: ServerResponse; keepsAlive: boolean }>();

/**
 * Notes that a client waits. Unless the body is asked for, the response is a refusal and ends the connection: nobody knows whether the
 * client will still send the body, which would be read as its next request.
 */
export function noteExpectation(req: IncomingMessage, res: ServerResponse): void {
  waiting.set(req, { res, keepsAlive: res.shouldKeepAlive });
  res.shouldKeepAlive = false;
}

/** Asks a waiting client to send the body, which will now be read. */
export function askForBody(req: IncomingMessage): void {
  if (req.headers.expect === undefined) return;
  const found = waiting.get(req);
  if (!found) return;
  waiting.delete(req);
  found.res.shouldKeepAlive = found.keepsAlive;
  found.res.writeContinue();
}
