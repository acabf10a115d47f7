import type { Reply } from '../../../http/context.ts';
import { renderPage, type PageView } from './layout.ts';
import type { Look } from '../look/look.ts';

/** The next location of the browser, with the cookies that the provider sets. */
export interface GoesOn {
  readonly location: string;
  readonly cookies: readonly string[];
}

/** Sends a page: its headers, its cookies, its markup. */
export function answerPage(
  reply: Reply,
  view: PageView,
  look: Look,
  {
    status = 200,
    cookies = [],
    retryAfter,
  }: {
    readonly status?: 200 | 400 | 410 | 429;
    readonly cookies?: readonly string[];
    readonly retryAfter?: number | undefined;
  } = {},
): string {
  const { headers, body } = renderPage(view, look);
  reply.status(status);
  reply.header('Content-Type', 'text/html; charset=utf-8');
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  if (cookies.length > 0) reply.header('Set-Cookie', cookies);
  if (retryAfter !== undefined) reply.header('Retry-After', Math.ceil(retryAfter));
  return body;
}

/** Redirects the browser. */
export function goOn(reply: Reply, { location, cookies }: GoesOn): void {
  reply.status(303);
  reply.header('location', location);
  reply.header('Cache-Control', 'no-store');
  reply.header('Referrer-Policy', 'no-referrer');
  if (cookies.length > 0) reply.header('Set-Cookie', cookies);
}
