import type { TestServer } from '../../../testing/server.ts';

/** A page or a redirect, as a browser without scripts sees it. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly url: string;
  /** The target of a redirect. */
  readonly location: string | undefined;
}

/** The main heading of a page. */
export const heading = ({ text }: Pick<Seen, 'text'>): string | undefined =>
  /<h1>(.*?)<\/h1>/s.exec(text)?.[1];

/** A form of a page: its target and its hidden fields. */
export interface SeenForm {
  readonly action: string;
  readonly carried: Readonly<Record<string, string>>;
}

/** A browser: it keeps cookies where they belong, and sends the forms of the pages that it was shown. */
export interface TestBrowser {
  open(path: string): Promise<Seen>;
  /** Sends the page's form whose action ends with `action`, with these fields. */
  submit(page: Seen, action: string, fields?: Readonly<Record<string, string>>): Promise<Seen>;
  post(path: string, fields: Readonly<Record<string, string>>): Promise<Seen>;
  /** Follows redirects as long as they stay on this server. */
  follow(seen: Seen): Promise<Seen>;
  readonly cookies: ReadonlyMap<
    string,
    { readonly value: string; readonly path: string; readonly line: string }
  >;
}

export const basePath = '/auth/v1/auth';

export function testBrowser(server: Pick<TestServer, 'url'>): TestBrowser {
  const cookies = new Map<string, { value: string; path: string; line: string }>();

  const sent = (path: string) =>
    [...cookies]
      .filter(([, cookie]) => path.startsWith(cookie.path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');

  function keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /; *path=([^;]*)/i.exec(line)?.[1] ?? '/';
    const over = /max-age=0|expires=Thu, 01 Jan 1970/i.test(line);
    if (over) cookies.delete(name);
    else cookies.set(name, { value, path, line });
  }

  async function go(url: string, init: RequestInit): Promise<Seen> {
    const { pathname } = new URL(url);
    const cookie = sent(pathname);
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
        ...(cookie === '' ? {} : { cookie }),
        ...(init.headers as Record<string, string> | undefined),
      },
    });
    response.headers.getSetCookie().forEach(keep);
    const text = await response.text();
    const location = response.headers.get('location') ?? undefined;
    return { status: response.status, headers: response.headers, text, url, location };
  }

  /** Maps every URL of the server to the address where it listens. */
  const here = (url: string, from = server.url) => {
    const { pathname, search } = new URL(url, from);
    return server.url + pathname + search;
  };

  const browser: TestBrowser = {
    cookies,
    open: (path) => go(here(path.startsWith(basePath) || path.includes('://') ? path : basePath + path), {}),
    post: (path, fields) =>
      go(here(path.startsWith(basePath) ? path : basePath + path), {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    submit(page, action, fields = {}) {
      const form = formsOf(page).find((one) => one.action.endsWith(action));
      if (!form) throw new Error(`no form to ${action} on ${page.url}: ${page.text}`);
      return browser.post(form.action, { ...form.carried, ...fields });
    },
    async follow(seen) {
      for (let at = seen; ; at = await go(here(at.location, at.url), {})) {
        if (at.location === undefined || !new URL(at.location, at.url).pathname.startsWith(basePath))
          return at;
      }
    },
  };
  return browser;
}

/** The forms of a page, with their hidden fields. */
export const formsOf = ({ text }: Pick<Seen, 'text'>): SeenForm[] =>
  [...text.matchAll(/<form method="post" action="([^"]*)">(.*?)<\/form>/gs)].map(([, action, content]) => ({
    action: unescaped(action!),
    carried: Object.fromEntries(
      [...content!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map(
        ([, name, value]) => [name!, unescaped(value!)],
      ),
    ),
  }));

const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The problem with each field of a page, by the name of the field; `''` for the whole form. */
export function problemsOn({ text }: Pick<Seen, 'text'>): Record<string, string> {
  const whole = /<p class="notice danger" role="alert">(.*?)<\/p>/s.exec(text)?.[1];
  const fields = [...text.matchAll(/<p class="problem" id="([^"]*)-problem">(.*?)<\/p>/gs)];
  return {
    ...(whole === undefined ? {} : { '': unescaped(whole) }),
    ...Object.fromEntries(fields.map(([, name, problem]) => [name!, unescaped(problem!)])),
  };
}
