import { Forbidden, Unauthenticated } from '../lib/errors.ts';
import { covers, nobody, type Caller } from './caller.ts';
import type { Operation } from './operation.ts';

/** Whether a caller acts for the operator of this service: `<service>:admin` in the operator's tenant, not confined. */
export function isOperator(caller: Caller, service: string, operatorTenant: string): boolean {
  return !caller.confined && caller.tenant === operatorTenant && covers(caller.scopes, `${service}:admin`);
}

/**
 * The check that an operation's `access` asks for, made once at the start. Throws `Unauthenticated` for nobody and
 * `Forbidden` for somebody without the right.
 */
export function accessCheck(operation: Operation, operatorTenant: string): (caller: Caller) => void {
  const { access, service } = operation;
  switch (access) {
    case 'public':
      return () => {};
    case 'key':
      return known((caller) => caller.credential.kind === 'key', 'an API key is needed');
    case 'user':
      // An access token speaks for a user as far as its scopes go, and never in person.
      return known(
        ({ userId, credential }) => userId !== null && credential.kind !== 'token',
        'a signed-in user is needed',
      );
    case 'any':
      return known(() => true, '');
    case 'operator':
      return known((caller) => isOperator(caller, service, operatorTenant), 'operator only');
    default: {
      const scope = `${service}:${access}`;
      return known((caller) => covers(caller.scopes, scope), `missing scope ${scope}`);
    }
  }
}

function known(allowed: (caller: Caller) => boolean, refusal: string): (caller: Caller) => void {
  return (caller) => {
    if (caller === nobody) throw Unauthenticated();
    if (!allowed(caller)) throw Forbidden(refusal);
  };
}
