import { decodeJwt } from 'jose';
import type { Context } from '../../../http/context.ts';

/** The credentials that a client presents. */
export interface PresentedClient {
  readonly id: string;
  /** Undefined if the client signed a JWT instead, which the library verifies. */
  readonly secret?: string;
}

/** Members of a form that identify the client. */
export interface ClientForm {
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly client_assertion?: string | undefined;
}

/** Returns the credentials in the header, otherwise those in the form; undefined when neither could prove the client. */
export function presentedClient(
  { authorization }: Pick<Context, 'authorization'>,
  form: ClientForm | undefined,
): PresentedClient | undefined {
  const basic = /^basic +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (basic !== undefined) return ofBasic(Buffer.from(basic, 'base64').toString('utf8'));
  const { client_id: id, client_secret: secret, client_assertion: assertion } = form ?? {};
  if (assertion) return ofAssertion(assertion);
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Both parts are form-encoded (RFC 6749, section 2.3.1). */
function ofBasic(text: string): PresentedClient | undefined {
  const colon = text.indexOf(':');
  const id = decoded(text.slice(0, Math.max(0, colon)));
  const secret = decoded(text.slice(colon + 1));
  return colon < 1 || id === undefined || secret === undefined || secret === '' ? undefined : { id, secret };
}

function ofAssertion(assertion: string): PresentedClient | undefined {
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === 'string' ? { id: sub } : undefined;
  } catch {
    return undefined;
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
