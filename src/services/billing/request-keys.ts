import { createHash } from 'node:crypto';
import type { Context } from '../../http/context.ts';

type Sender = Pick<Context, 'credential' | 'actor' | 'subjectId' | 'idempotencyKey'>;

/**
 * The key under which what a request makes is kept, so that its repetition finds it however the first request ended; undefined without an
 * `Idempotency-Key`. As everywhere, keys of different credentials and users never meet, nor do they meet those in bodies.
 */
export function requestKeyOf({ credential, actor, subjectId, idempotencyKey }: Sender): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  const sent = [credential.kind, credential.id, actor, subjectId ?? '', idempotencyKey].join('\n');
  return `request:${createHash('sha256').update(sent).digest('base64url')}`;
}
