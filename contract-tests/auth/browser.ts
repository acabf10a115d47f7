/** The hosted pages as a browser without scripts sees them. */
import type { Credential } from '../harness.ts';

export interface Shown {
  readonly status: number;
  readonly text: string;
  /** The target of a redirect. */
  readonly location: string | undefined;
}

export interface Browser {
  open(path: string): Promise<Shown>;
  post(path: string, fields: Readonly<Record<string, string>>): Promise<Shown>;
  /** Submits the form of the page whose action ends with `action`, with these fields and the hidden ones. */
  submit(page: Shown, action: string, fields?: Readonly<Record<string, string>>): Promise<Shown>;
  /** Follows redirects as long as they lead to the service. */
  follow(shown: Shown): Promise<Shown>;
  /** Returns the `Cookie` header that it sends to this path. */
  cookieFor(path: string): string;
}

const base = '/auth/v1/auth';

export function openBrowser(visitor: Credential): Browser {
  const cookies = new Map<string, { path: string; value: string }>();

  const cookieFor = (path: string): string =>
    [...cookies]
      .filter(([, cookie]) => path.startsWith(cookie.path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');

  async function go(path: string, init: RequestInit = {}): Promise<Shown> {
    const cookie = cookieFor(path);
    const response = await visitor.fetch(path, { ...init, redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, { value, path: /; *path=([^;]*)/i.exec(line)?.[1] ?? '/' });
      if (value === '') cookies.delete(name);
    }
    return {
      status: response.status,
      text: await response.text(),
      location: response.headers.get('location') ?? undefined,
    };
  }

  const post = (path: string, fields: Readonly<Record<string, string>>) =>
    go(path, { method: 'POST', body: new URLSearchParams(fields) });

  return {
    cookieFor,
    open: (path) => go(base + path),
    post: (path, fields) => post(base + path, fields),
    submit(page, action, fields = {}) {
      const form = formsOf(page).find((one) => one.action.endsWith(action));
      if (!form) throw new Error(`no form to ${action}: ${page.text}`);
      return post(pathOf(form.action), { ...form.hidden, ...fields });
    },
    async follow(shown) {
      let at = shown;
      while (at.location !== undefined && pathOf(at.location).startsWith(base))
        at = await go(pathOf(at.location));
      return at;
    },
  };
}

/** The test's address replaces any address that the server gives for itself. */
const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url, 'http://localhost');
  return pathname + search;
};

const formsOf = ({ text }: Shown) =>
  [...text.matchAll(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', content = '']) => ({
      action: unescaped(action),
      hidden: Object.fromEntries(
        [...content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
          ([, name, value = '']) => [name, unescaped(value)],
        ),
      ) as Record<string, string>,
    }),
  );

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
