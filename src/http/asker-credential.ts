import { Invalid } from '../lib/errors.ts';
import { isRoot, nobody, type Caller } from './caller.ts';
import type { CallerSession, Credential } from './context.ts';

/**
 * The header with which a server that asks another one says how its caller was authenticated. Services decide by it: a key may
 * not extend itself, an impersonated session may not change a password, an access token is not the user in person. Only root may
 * send it.
 */
export const credentialHeader = 'X-Credential';

/** The facts about a caller that the other identity headers do not carry. */
interface Told {
  readonly actor: string;
  readonly credential: Credential;
  readonly session: CallerSession | null;
  readonly confined: boolean;
}

const kinds: ReadonlySet<string> = new Set(['key', 'session', 'token', 'own'] satisfies Credential['kind'][]);

/** The value for a caller without a credential. */
const noCredential = 'none';

/** Returns the value of the header; undefined for root, which asks as itself. */
export function encodeCredential(caller: Caller): string | undefined {
  if (caller === nobody) return noCredential;
  if (isRoot(caller)) return undefined;
  const { actor, credential, session, confined } = caller;
  const told: Told = { actor, credential, session, confined };
  return Buffer.from(JSON.stringify(told)).toString('base64url');
}

/**
 * Returns the caller that the header describes; `spoken` has the facts from the other identity headers.
 * @throws Invalid
 */
export function callerByCredential(spoken: Caller, header: string | string[]): Caller {
  if (header === noCredential) return nobody;
  const told = decoded(header);
  if (told === undefined) throw Invalid(`${credentialHeader}: must be one that a server sent`);
  const { actor, credential, session, confined } = told;
  return { ...spoken, actor, credential: { kind: credential.kind, id: credential.id }, session, confined };
}

function decoded(header: string | string[]): Told | undefined {
  if (typeof header !== 'string' || !/^[A-Za-z0-9_-]+$/.test(header)) return undefined;
  let told: unknown;
  try {
    told = JSON.parse(Buffer.from(header, 'base64url').toString());
  } catch {
    return undefined;
  }
  return isTold(told) ? told : undefined;
}

function isTold(value: unknown): value is Told {
  if (!isRecord(value)) return false;
  const { actor, credential, session, confined } = value;
  return (
    typeof actor === 'string' &&
    isRecord(credential) &&
    kinds.has(String(credential['kind'])) &&
    typeof credential['id'] === 'string' &&
    (session === null || isSession(session)) &&
    typeof confined === 'boolean'
  );
}

function isSession(value: unknown): value is CallerSession {
  if (!isRecord(value)) return false;
  const { id, orgId, orgScopes, impersonatedBy, authenticatedAt } = value;
  return (
    typeof id === 'string' &&
    isTextOrNull(orgId) &&
    Array.isArray(orgScopes) &&
    orgScopes.every((scope) => typeof scope === 'string') &&
    isTextOrNull(impersonatedBy) &&
    typeof authenticatedAt === 'string'
  );
}

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
