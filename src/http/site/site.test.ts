import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoServer } from '../fixture/server.ts';
import { type Manifest, manifestName } from './manifest.ts';

const page = 'docs/errors/index.html';

/** A built site in small: each file has the text `<name> as <coding>`. */
const files: Manifest['files'] = {
  'docs/index.html': { tag: 'first', codings: [] },
  [page]: { tag: 'errors', codings: ['br', 'gzip'] },
  'docs/404.html': { tag: 'missing', codings: ['gzip'] },
  'docs/_astro/common.abc.css': { tag: 'css', codings: [] },
  'docs/pagefind/pagefind.js': { tag: 'search', codings: [] },
  'interactive/scalar-1.2.3.js': { tag: 'scalar', codings: ['br'] },
};

async function write(folder: string, manifest: Manifest): Promise<void> {
  for (const [name, { codings }] of Object.entries(manifest.files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), `${name} as it is`);
    if (codings.includes('br')) await writeFile(join(folder, `${name}.br`), `${name} as br`);
    if (codings.includes('gzip')) await writeFile(join(folder, `${name}.gz`), `${name} as gzip`);
  }
  await writeFile(join(folder, manifestName), JSON.stringify(manifest));
}

let folder: string;
let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-site-'));
  await write(folder, { fingerprint: 'first', files });
  await writeFile(join(folder, 'secret.txt'), 'secret');
  server = await demoServer({ site: folder });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/** Sends the path as it is, which `fetch` does not, and returns the body as it was sent. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    sent.on('error', reject).end();
  });

describe('the documentation', () => {
  test('is a page at each address, and addresses without their last slash lead there', async () => {
    expect(await get('/docs/')).toMatchObject({ status: 200, text: 'docs/index.html as it is' });
    expect(await get('/docs')).toMatchObject({ status: 308, headers: { location: '/docs/' } });
    expect(await get('/docs/errors')).toMatchObject({ status: 308, headers: { location: '/docs/errors/' } });
    const { headers } = await get('/docs/errors/');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', 'br'],
    ['identity', undefined],
    ['', undefined],
  ])('is sent to a client that accepts "%s" as %s', async (accepted, coding) => {
    const { headers, text } = await get('/docs/errors/', { 'accept-encoding': accepted });
    expect([headers['content-encoding'], text]).toEqual([coding, `${page} as ${coding ?? 'it is'}`]);
    expect(headers['vary']).toContain('Accept-Encoding');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test('is not sent again while it has not changed', async () => {
    const first = await get('/docs/errors/', { 'accept-encoding': 'br' });
    expect(first.headers).toMatchObject({ etag: '"errors-br"', 'cache-control': 'no-cache' });
    const again = await get('/docs/errors/', { 'accept-encoding': 'br', 'if-none-match': '"errors-br"' });
    expect(again).toMatchObject({ status: 304, text: '' });
    expect(again.headers['content-security-policy']).toBe(first.headers['content-security-policy']);
    const other = await get('/docs/errors/', { 'accept-encoding': 'gzip', 'if-none-match': '"errors-br"' });
    expect(other).toMatchObject({ status: 200, headers: { etag: '"errors-gzip"' } });
  });

  test.each(['/docs/_astro/common.abc.css', '/interactive/scalar-1.2.3.js'])(
    '%s never changes, so that it need not be asked for again',
    async (path) => {
      const { headers } = await get(path);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    },
  );

  test('may load nothing from other servers', async () => {
    const { headers } = await get('/docs/');
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'wasm-unsafe-eval';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|\*/);
  });

  test('answers HEAD without content', async () => {
    const { status, headers, text } = await get('/docs/errors/', { 'accept-encoding': 'gzip' }, 'HEAD');
    expect([status, headers['content-length'], text]).toEqual([200, String(`${page} as gzip`.length), '']);
  });

  test.each([
    '/docs/nope',
    '/docs/errors/index.html.br',
    '/docs/../secret.txt',
    '/docs/%2e%2e/secret.txt',
    '/docs/..%2fsecret.txt',
    '/docs/..%5csecret.txt',
    '/docs//etc/passwd',
    '/docs/errors/%00',
  ])('%s gets the page that says that nothing is there', async (path) => {
    const { status, headers, text } = await get(path, { 'accept-encoding': 'gzip' });
    expect([status, text]).toEqual([404, expect.not.stringContaining('secret')]);
    expect(headers['cache-control'] ?? 'no-cache').toBe('no-cache');
  });

  test.each([
    '/manifest.json',
    '/docs/manifest.json',
    '/secret.txt',
    '/interactive/',
    '/interactive/nope.js',
  ])('%s is not part of it', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test('is not written by other methods', async () => {
    expect((await get('/docs/errors/', {}, 'POST')).status).toBe(404);
  });

  test('that is built again is served without a restart', async () => {
    const own = await mkdtemp(join(tmpdir(), 'plinth-site-'));
    const other = await demoServer({ site: join(own, 'dist') });
    const answer = async () => {
      const response = await fetch(`${other.origin}/docs/`);
      return [response.status, response.headers.get('etag')];
    };
    expect(await answer()).toEqual([404, null]);
    for (const tag of ['first', 'second']) {
      await rm(join(own, 'dist'), { recursive: true, force: true });
      await write(join(own, 'dist'), {
        fingerprint: tag,
        files: { 'docs/index.html': { tag, codings: [] } },
      });
      expect(await answer()).toEqual([200, `"${tag}"`]);
    }
    await other.close();
    await rm(own, { recursive: true });
  });
});

describe('the interactive reference', () => {
  test('loads nothing from anywhere else, leads home, and says what to do without scripts', async () => {
    const { status, headers, text } = await get('/demo/docs');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; .*; script-src 'self'; .*; connect-src 'self'$/,
    );
    expect(text).toContain('<script src="/interactive/scalar-1.2.3.js"></script>');
    expect(text).toContain('<a href="/">Plinth</a>');
    expect(text).toMatch(
      /<noscript>.*<a href="\/docs\/reference\/demo\/">static reference<\/a>.*<\/noscript>/s,
    );
    expect(text).not.toMatch(/https?:/);
  });

  test('leads to the static reference where its program is missing', async () => {
    const own = await mkdtemp(join(tmpdir(), 'plinth-site-'));
    await write(own, { fingerprint: '', files: { 'docs/index.html': { tag: 'first', codings: [] } } });
    const other = await demoServer({ site: own });
    const response = await fetch(`${other.origin}/demo/docs`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs/reference/demo/']);
    await other.close();
    await rm(own, { recursive: true });
  });
});

test('where nothing is built, all addresses say how to build it', async () => {
  const other = await demoServer();
  for (const path of ['/docs', '/docs/', '/docs/errors/', '/demo/docs']) {
    const response = await fetch(other.origin + path);
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      404,
      'text/html; charset=utf-8',
    ]);
    expect(await response.text()).toContain('npm run docs');
  }
  await other.close();
});
