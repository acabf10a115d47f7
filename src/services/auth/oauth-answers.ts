import type { Context } from '../../http/context.ts';
import { Invalid } from '../../lib/errors.ts';
import type { OidcAnswer } from './oidc-requests.ts';
import { codeOfStatus } from './oauth-errors.ts';

/** Headers of the library that are part of an answer. */
const told = {
  location: 'Location',
  'set-cookie': 'Set-Cookie',
  'www-authenticate': 'WWW-Authenticate',
  'content-security-policy': 'Content-Security-Policy',
  'referrer-policy': 'Referrer-Policy',
} as const;

/** Gives on the status and the headers of the library. */
function begin({ reply }: Pick<Context, 'reply'>, { status, headers }: OidcAnswer): void {
  reply.status(status);
  for (const [name, shown] of Object.entries(told)) {
    const value = headers[name];
    if (value !== undefined) reply.header(shown, value);
  }
}

/** A page, or the way to the next one. @throws Invalid where the library refuses and nobody is to be sent anywhere. */
export function answerBrowser(context: Pick<Context, 'reply'>, answer: OidcAnswer): string {
  if (answer.status >= 400) {
    const { error, error_description } = JSON.parse(answer.body) as {
      error: string;
      error_description?: string;
    };
    throw Invalid(error_description ?? error);
  }
  begin(context, answer);
  if (answer.status >= 300) return '';
  context.reply.header('Content-Type', 'text/html; charset=utf-8');
  context.reply.header('Cache-Control', 'no-store');
  return answer.body;
}

/** What programs get; failures with the `code` of the service. */
export function answerProgram<Body>(
  context: Pick<Context, 'reply'>,
  answer: OidcAnswer,
  issuer: string,
): Body {
  begin(context, answer);
  context.reply.header('Cache-Control', 'no-store');
  const body = JSON.parse(answer.body) as Body & { error?: string };
  if (answer.status < 400) return body;
  if (answer.status === 401 && answer.headers['www-authenticate'] === undefined)
    context.reply.header('WWW-Authenticate', `Basic realm="${issuer}"`);
  return { ...body, code: codeOfStatus(answer.status) };
}
