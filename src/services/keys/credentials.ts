import type { Operator } from '../../http/access.ts';
import { asOperator } from '../../http/asker.ts';
import { apiKey, type CredentialResolver, type KeyFacts } from '../../http/credentials.ts';
import { remotePort, type Remote } from '../../http/remote-port.ts';
import { DomainError, type ErrorKind, Internal, Unauthenticated, Unavailable } from '../../lib/errors.ts';
import type { Validator } from './validation/validator.ts';

/** The platform itself asks about a key, which may belong to any tenant. */
const platform = { tenant: 'default', operator: true };

/** Resolves API keys in the process that serves them. Uses are recorded, but no request waits for the record. */
export const keyCredential = (validator: Pick<Validator, 'validate'>): CredentialResolver =>
  apiKey((facts) =>
    validator.validate({ ...questionOf(facts), required_scopes: [], cost: 1, record: 'async' }, platform),
  );

/** Resolves API keys through the server that serves them. Without an answer it throws `Unavailable` and never guesses a caller. */
export function remoteKeyCredential(remote: Remote, operator: Operator): CredentialResolver {
  const { keys } = remotePort('keys', remote, operator);
  return apiKey(async (facts, requestId) => {
    try {
      const body = { ...questionOf(facts), record: 'async' as const };
      return await keys.validate({ body }, asOperator({ requestId }));
    } catch (error) {
      throw asCallersError(error);
    }
  });
}

/** A request without an origin leaves it out. */
const questionOf = ({ origin, ...facts }: KeyFacts) => ({ ...facts, ...(origin === null ? {} : { origin }) });

/** A question that the contract forbids, for example because of its origin, cannot come from a valid key. */
function asCallersError(error: unknown): unknown {
  if (!(error instanceof DomainError) || passedOn.has(error.kind)) return error;
  if (error.kind === 'invalid') return Unauthenticated(undefined, { cause: error });
  return error.kind === 'forbidden' ? Internal(error) : Unavailable('keys unavailable', { cause: error });
}

const passedOn: ReadonlySet<ErrorKind> = new Set(['rateLimited', 'unavailable', 'internal']);
