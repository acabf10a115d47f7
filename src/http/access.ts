import { Forbidden, Unauthenticated } from '../lib/errors.ts';
import { covers, isRoot, nobody, type Caller } from './caller.ts';
import type { Operation } from './operation.ts';

/** The app whose admins run the platform, and its tenant. */
export interface Operator {
  readonly tenant: string;
  readonly app: string;
}

/**
 * Whether a caller acts for the operator of this service: root, or a holder of `<service>:admin` in the operator's own app. Other
 * apps of the operator's tenant have no special rights. A caller that is confined to a tenant acts for that tenant only.
 */
export const isOperator = (caller: Caller, service: string, operator: Operator): boolean =>
  isOperators(caller, operator) && covers(caller.scopes, `${service}:admin`);

/** Whether the caller's credential belongs to the operator, regardless of its scopes. */
export const isOperators = (caller: Caller, operator: Operator): boolean =>
  !caller.confined && (isRoot(caller) || (caller.tenant === operator.tenant && caller.app === operator.app));

/**
 * Builds the check for an operation's `access`, once at startup. The check throws `Unauthenticated` for a caller without a
 * credential and `Forbidden` for a caller without the right.
 */
export function accessCheck(operation: Operation, operator: Operator): (caller: Caller) => void {
  const { access, service } = operation;
  switch (access) {
    case 'public':
      return () => {};
    case 'key':
      return known((caller) => caller.credential.kind === 'key', 'an API key is needed');
    case 'user':
      // An access token acts for a user within its scopes, but it is not the user in person.
      return known(
        ({ userId, credential }) => userId !== null && credential.kind !== 'token',
        'a signed-in user is needed',
      );
    case 'any':
      return known(() => true, '');
    case 'operator':
      return known((caller) => isOperator(caller, service, operator), 'operator only');
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
