import type { Context } from './context.ts';
import { covers } from './caller.ts';

/** The context of a call that the server makes on its own account, as the operator. Nobody reads its reply. */
export function internalCall(requestId: string, operatorTenant: string, ip: string): Context {
  const scopes = ['*'];
  return {
    tenant: operatorTenant,
    app: 'default',
    actor: 'root',
    userId: null,
    subjectId: null,
    credential: { kind: 'root', id: 'root' },
    session: null,
    scopes,
    operator: true,
    requestId,
    ip,
    userAgent: null,
    signal: never,
    reply: { status() {}, header() {} },
    holds: (scope) => covers(scopes, scope),
  };
}

const never = new AbortController().signal;
