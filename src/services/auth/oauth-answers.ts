import type { Context } from '../../http/context.ts';
import type { OidcAnswer } from './oidc-requests.ts';
import { codeOfStatus } from './oauth-errors.ts';

/** Headers of the library that are part of an answer. */
const told = {
  location: 'Location',
  'set-cookie': 'Set-Cookie',
  'content-security-policy': 'Content-Security-Policy',
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

/** A page, or the way to the next one. */
export function answerBrowser(context: Pick<Context, 'reply'>, answer: OidcAnswer): string {
  begin(context, answer);
  if (answer.status >= 300 && answer.status < 400) return '';
  context.reply.header('Content-Type', 'text/html; charset=utf-8');
  context.reply.header('Cache-Control', 'no-store');
  context.reply.header('Referrer-Policy', 'no-referrer');
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
