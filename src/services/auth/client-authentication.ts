import type { Context } from '../../http/context.ts';

/** How a client says who it is. */
export interface PresentedClient {
  readonly id: string;
  readonly secret: string;
}

/** What a client presents in its header, or else in its form; undefined where it presents no secret. */
export function presentedClient(
  { authorization }: Pick<Context, 'authorization'>,
  form: { readonly client_id?: string | undefined; readonly client_secret?: string | undefined } | undefined,
): PresentedClient | undefined {
  const basic = /^basic +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (basic !== undefined) return ofBasic(Buffer.from(basic, 'base64').toString('utf8'));
  const { client_id: id, client_secret: secret } = form ?? {};
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Both parts are encoded as forms are (RFC 6749, section 2.3.1). */
function ofBasic(text: string): PresentedClient | undefined {
  const colon = text.indexOf(':');
  const id = decoded(text.slice(0, Math.max(0, colon)));
  const secret = decoded(text.slice(colon + 1));
  return colon < 1 || id === undefined || secret === undefined || secret === '' ? undefined : { id, secret };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
