import type { Context } from '../../../http/context.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { OidcAnswer } from './oidc-requests.ts';
import { codeOfStatus } from './oauth-errors.ts';

/** Headers of the library that are passed on. */
const told = {
  location: 'Location',
  'set-cookie': 'Set-Cookie',
  'www-authenticate': 'WWW-Authenticate',
  'content-security-policy': 'Content-Security-Policy',
  'referrer-policy': 'Referrer-Policy',
} as const;

/** Passes on the status and the headers of the library. */
function begin({ reply }: Pick<Context, 'reply'>, { status, headers }: OidcAnswer): void {
  reply.status(status);
  for (const [name, shown] of Object.entries(told)) {
    const value = headers[name];
    if (value !== undefined) reply.header(shown, value);
  }
}

/** Returns a page, or redirects to the next one. @throws Invalid if the library refuses without a redirect */
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

/** Returns a page that the library rendered, including error pages, or redirects to the next one. */
export function answerPageOf(context: Pick<Context, 'reply'>, answer: OidcAnswer): string {
  begin(context, answer);
  context.reply.header('Cache-Control', 'no-store');
  if (answer.status >= 300 && answer.status < 400) return '';
  context.reply.header('Content-Type', 'text/html; charset=utf-8');
  return answer.body;
}

/** Returns the response to a program; failures carry the `code` of the service. */
export function answerProgram<Body>(
  context: Pick<Context, 'reply'>,
  answer: OidcAnswer,
  issuer: string,
): Body {
  begin(context, answer);
  context.reply.header('Cache-Control', 'no-store');
  context.reply.header('Pragma', 'no-cache');
  const body = JSON.parse(answer.body) as Body & { error?: string };
  if (answer.status < 400) return body;
  if (answer.status === 401 && answer.headers['www-authenticate'] === undefined)
    context.reply.header('WWW-Authenticate', `Basic realm="${issuer}"`);
  return { ...body, code: codeOfStatus(answer.status) };
}
