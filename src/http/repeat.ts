import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Claim, Idempotency, KeyedRequest } from '../db/idempotency.ts';
import { Invalid } from '../lib/errors.ts';
import type { Shaped } from './answer.ts';
import type { Call } from './call.ts';
import type { Operation } from './operation.ts';
import type { Headers, Outgoing } from './respond.ts';

/** Carries out one request, or repeats the response to an earlier request with the same `Idempotency-Key`. */
export type Once = (
  req: IncomingMessage,
  call: Call,
  request: unknown,
  carryOut: () => Promise<Shaped>,
) => Promise<Shaped>;

/**
 * Whether an operation supports `Idempotency-Key`. The contract says so: of every POST that creates something (201) and can report that
 * a key was used before (409), and of those with `@repeatable`, which answer with 200 or 202. Where a standard has no such response, as
 * for a pushed authorization request, a repeated request creates another resource.
 */
export const creates = ({ repeatable }: Operation) => repeatable === true;

/**
 * Honours `Idempotency-Key` on an operation that creates something. Keys belong to a tenant, an operation, a credential and the
 * person on whose behalf the credential is used. A response with `Cache-Control: no-store` carries a secret, so only the id of
 * the created resource is remembered.
 */
export function repeatGuard(
  operation: Operation,
  idempotency: Pick<Idempotency, 'claim'>,
  log: Logger,
): Once {
  return async (req, call, request, carryOut) => {
    const key = req.headers['idempotency-key'];
    if (key === undefined) return carryOut();
    if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw Invalid('Idempotency-Key: must be 1 to 255 visible ASCII characters');
    }
    const claimed = await idempotency.claim(keyed(operation, call, key, request));
    if ('answer' in claimed) return { kind: 'whole', head: replayed(claimed.answer) };
    const { claim } = claimed;
    let shaped: Shaped;
    try {
      shaped = await carryOut();
    } catch (thrown) {
      await claim
        .release()
        .catch((error: unknown) => log.warn({ err: error }, 'an idempotency key was not released'));
      throw thrown;
    }
    // The resource exists: a failure to remember the response must not turn it into an error.
    await remember(claim, shaped.head).catch((error: unknown) =>
      log.warn({ err: error }, 'an answer was not remembered'),
    );
    return shaped;
  };
}

function keyed(
  { service, id }: Operation,
  { tenant, app, actor, subjectId, credential }: Call,
  key: string,
  request: unknown,
): KeyedRequest {
  const subject = subjectId === null ? [] : [subjectId];
  const scope = [service, id, app, credential.kind, credential.id, actor, ...subject].join('\n');
  return { tenant, scope, key, fingerprint: createHash('sha256').update(JSON.stringify(request)).digest() };
}

async function remember(claim: Claim, { status, headers = {}, body }: Outgoing): Promise<void> {
  const text = typeof body === 'string' ? body : null;
  if (headers['Cache-Control']?.includes('no-store')) await claim.keepOnly(madeId(text) ?? 'something');
  else await claim.keep({ status, headers, body: text });
}

/** The id in a response, or in the one resource inside it: `{ raw_key, key: { id } }`. */
function madeId(text: string | null): string | undefined {
  const answer: unknown = text === null ? null : JSON.parse(text);
  const candidates = [answer, ...(isRecord(answer) ? Object.values(answer) : [])];
  return candidates
    .map((one) => (isRecord(one) ? one['id'] : undefined))
    .find((id) => typeof id === 'string');
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function replayed({
  status,
  headers,
  body,
}: {
  status: number;
  headers: Headers;
  body: string | null;
}): Outgoing {
  return { status, headers, contentType: body === null ? null : 'application/json', body: body ?? undefined };
}
