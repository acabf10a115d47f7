import { isOperator, type Operator } from './access.ts';
import type { Asker } from './asker.ts';
import { Answer } from './call.ts';
import { covers } from './caller.ts';
import type { Context } from './context.ts';

/** The context of the asked service. It has its own reply, no part of which reaches the response to the asker's client. */
export function portCall(asker: Asker, service: string, operator: Operator): Context & { reply: Answer } {
  const { caller, requestId, ip, userAgent } = asker;
  const { tenant, app, actor, userId, subjectId, credential, session, scopes } = caller;
  return {
    ...{
      caller,
      tenant,
      app,
      actor,
      userId,
      subjectId,
      credential,
      session,
      scopes,
      requestId,
      ip,
      userAgent,
    },
    operator: isOperator(caller, service, operator),
    reply: new Answer(),
    get signal() {
      return asker.signal;
    },
    rest: (wait) => wait(),
    holds: (scope) => covers(scopes, scope),
  };
}
