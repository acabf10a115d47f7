/**
 * Runs the README's examples as they are printed: its shell blocks run against a new server, and their output has to match the
 * README.
 */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPostgres, inDatabase } from '../src/testing/postgres.ts';
import { findChromium, launchChromium } from '../src/testing/chromium.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const readme = await readFile(join(root, 'README.md'), 'utf8');

interface Block {
  language: string;
  text: string;
}
const blocks: Block[] = [...readme.matchAll(/^```(\S+(?: \S+)?)\n(.*?)^```$/gms)].map((match) => ({
  language: match[1] ?? '',
  text: match[2] ?? '',
}));

/**
 * Starts `src/main.ts` on a free port, which is chosen beforehand because `auth` names its address in tokens. Resolves when the
 * server listens.
 */
async function start(
  args: string[],
  data: string,
  databaseUrl = '',
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ['src/main.ts', ...args, '--port', String(await freePort())], {
    cwd: root,
    env: { ...process.env, PLINTH_DATA_DIR: data, PLINTH_LOG: 'info', DATABASE_URL: databaseUrl },
  });
  let text = '';
  const url = new Promise<string>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  return { url: await url, child };
}

/** Runs blocks one after the other in one shell and answers what each printed. */
async function shell(scripts: string[], replacements: Record<string, string>): Promise<string[]> {
  const script = scripts.join("\necho '=== next ==='\n");
  const adapted = Object.entries(replacements).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    script,
  );
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', adapted], { cwd: root });
  return stdout.split('=== next ===\n');
}

/** Each shell block with the JSON block that follows it, if one does. */
function examples(language: string): { script: string; printed: unknown }[] {
  return blocks.flatMap((block, at) => {
    if (block.language !== language) return [];
    const next = blocks[at + 1];
    return [{ script: block.text, printed: next?.language === 'json' ? JSON.parse(next.text) : undefined }];
  });
}

/** Replaces random text by its form. */
const withoutSecrets = (text: string) =>
  text
    .replace(/[A-Z2-7]{32}/, 'SECRET')
    .replace(/\w{4}-\w{4}-\w{4}/, 'RECOVERY')
    .replace(/ada-\w+@/, 'ADA@')
    .replace(/client_\w+/, 'CLIENT')
    .replace(/sec_\w+/, 'SECRET');

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Returns the script as one file for browsers. */
async function bundled(script: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: script, loader: 'ts', resolveDir: root },
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
  });
  return outputFiles[0]?.text.replaceAll('</script', '<\\/script') ?? '';
}

const placeOf = (language: string) => blocks.findIndex((block) => block.language === language);
const textOf = (language: string): string => blocks[placeOf(language)]?.text ?? '';
/** The block after the one of this language. */
const textAfter = (language: string): string => blocks[placeOf(language) + 1]?.text ?? '';

/** A shell in which a reader follows the README on a server. */
async function sessionOf(url: string, data: string, replacements: Record<string, string> = {}) {
  const token = (await readFile(join(data, 'root-token'), 'utf8')).trim();
  const env = { ...process.env, PLINTH_URL: url, PLINTH_ROOT_TOKEN: token };
  return {
    env,
    /** Runs a block, and the blocks that follow it in the same shell. */
    run: (language: string, then = ''): Promise<string> =>
      shell([`export PLINTH_ROOT_TOKEN=${token}\n${textOf(language)}\n${then}`], {
        'http://127.0.0.1:4000': url,
        ...replacements,
      }).then(([printed = '']) => printed),
  };
}

/** Starts a program of examples/. */
function example(file: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [`examples/${file}`], { cwd: root, env });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'exit');
  return {
    printed: () => text,
    prints: (what: string) => expect.poll(() => text, { timeout: 20_000 }).toContain(what),
    async stop(signal: NodeJS.Signals) {
      child.kill(signal);
      await ended;
    },
  };
}

const chromium = findChromium();
// Printed, because reporters do not say why a test is skipped.
if (!chromium)
  console.warn('examples/readme.test.ts shows no page: no Chromium on PATH, nor at PLINTH_CHROMIUM');

const postgres = spawnSync('psql', ['--version']).status === 0 ? await findPostgres() : undefined;
if (postgres === undefined)
  console.warn(
    'examples/readme.test.ts tampers with no event: no psql on PATH, or no PostgreSQL that answers',
  );

/** Runs `use` with a server that has a new database: one of PostgreSQL if somebody can tamper with it, else an embedded one. */
async function onNewDatabase(
  use: (url: string, data: string, databaseUrl: string | undefined) => Promise<void>,
): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'plinth-readme-'));
  const name = `plinth_readme_${randomBytes(6).toString('hex')}`;
  const databaseUrl = postgres && inDatabase(postgres, name);
  if (postgres !== undefined) await run('psql', ['-q', postgres, '-c', `create database ${name}`]);
  const { url, child } = await start(['serve', 'authz', 'audit'], data, databaseUrl);
  try {
    await use(url, data, databaseUrl);
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    if (postgres !== undefined)
      await run('psql', ['-q', postgres, '-c', `drop database ${name} with (force)`]);
    await rm(data, { recursive: true });
  }
}

describe('the README', () => {
  let data: string;
  let server: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'plinth-readme-'));
    server = await start(['serve'], data);
  }, 60_000);

  afterAll(async () => {
    const ended = new Promise((resolve) => server.child.once('exit', resolve));
    server.child.kill('SIGTERM');
    await ended;
    await rm(data, { recursive: true });
  });

  it('shows shell examples that answer what it says', async () => {
    const shown = examples('sh');
    const answers = await shell(
      shown.map((example) => example.script),
      {
        'http://127.0.0.1:4000': server.url,
        '.plinth/root-token': join(data, 'root-token'),
      },
    );
    expect(shown.length).toBeGreaterThan(3);
    for (const [at, { printed }] of shown.entries()) {
      if (printed !== undefined) expect(JSON.parse(answers[at] ?? '')).toMatchObject(printed as object);
    }
  });

  it('shows a first app, which runs, and a program where its user signs in through the pages', async () => {
    const at = blocks.findIndex(({ language }) => language === 'ts first-app');
    const [script, printed, program] = blocks.slice(at, at + 3).map(({ text }) => text);
    expect(script).toBe(await readFile(join(root, 'examples/first-app.ts'), 'utf8'));
    expect(program).toBe(await readFile(join(root, 'examples/relying-party.ts'), 'utf8'));
    const token = (await readFile(join(data, 'root-token'), 'utf8')).trim();
    const relyingParty = `http://127.0.0.1:${await freePort()}`;
    const env = { ...process.env, PLINTH_URL: server.url, RELYING_PARTY: relyingParty };
    const runIt = () =>
      run(process.execPath, ['examples/first-app.ts'], {
        cwd: root,
        env: { ...env, PLINTH_ROOT_TOKEN: token },
      });
    await runIt();
    const { stdout } = await runIt();
    expect(withoutSecrets(stdout), 'a second run').toBe(withoutSecrets(printed ?? ''));
    const [email = ''] = /ada-\w+@example\.com/.exec(stdout) ?? [];
    if (!chromium) return;

    const client = Object.fromEntries(
      [...stdout.matchAll(/(CLIENT_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );
    const party = spawn(process.execPath, ['examples/relying-party.ts'], {
      cwd: root,
      env: { ...env, ...client },
    });
    const browser = await launchChromium(chromium);
    try {
      const [said] = (await Promise.race([once(party.stdout, 'data'), once(party.stderr, 'data')])) as [
        Buffer,
      ];
      expect(said.toString()).toBe(`Open ${relyingParty} in a browser\n`);
      const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
      await page.goto(relyingParty);
      await page.getByLabel('Email or username').fill(email);
      await page.getByLabel('Password').fill('correct horse battery staple');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Use a recovery code instead').click();
      await page.getByLabel('Recovery code').fill(/\w{4}-\w{4}-\w{4}/.exec(stdout)?.[0] ?? '');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL((url) => url.origin === relyingParty);
      expect(await page.textContent('body')).toContain(`Welcome, Ada Lovelace! Your address is ${email}.`);
    } finally {
      await browser.close();
      party.kill();
    }
  });

  it('guards a prompt, with the members that are printed', async () => {
    const printed = JSON.parse(textOf('json prompt-answer')) as object;
    const session = await sessionOf(server.url, data);
    expect(JSON.parse(await session.run('sh prompt'))).toMatchObject(printed);
  });

  it('shows a first job, which a worker in a second terminal completes', async () => {
    expect(textOf('ts worker')).toBe(await readFile(join(root, 'examples/worker.ts'), 'utf8'));
    const session = await sessionOf(server.url, data);
    expect(JSON.parse(await session.run('sh job'))).toMatchObject({ state: 'pending', queue: 'emails' });
    const worker = example('worker.ts', session.env);
    await worker.prints('welcome to ada@example.com, attempt 1');
    await worker.stop('SIGTERM');
    expect(JSON.parse(await session.run('sh job-done'))).toEqual(JSON.parse(textAfter('sh job-done')));
    const shown = textAfter('ts worker').replaceAll(/http\S+|job_\w+/g, '…');
    expect(worker.printed().replaceAll(/http\S+|job_\w+/g, '…')).toBe(`${shown}stopping\nstopped\n`);
  });

  it('shows a first webhook: verified, retried, dead and replayed', async () => {
    expect(textOf('ts webhook-receiver')).toBe(
      await readFile(join(root, 'examples/webhook-receiver.ts'), 'utf8'),
    );
    const port = String(await freePort());
    const session = await sessionOf(server.url, data, { ':4400': `:${port}` });
    const printed = await session.run('sh webhook', 'echo "$WEBHOOK_SECRET"');
    const env = {
      ...session.env,
      RECEIVER_PORT: port,
      WEBHOOK_SECRET: /whsec_\S+/.exec(printed)?.[0] ?? '',
    };
    const verified = 'verified: invoice.paid {"invoice_id":"inv_1","amount":4900}';
    const receiver = example('webhook-receiver.ts', env);
    await receiver.prints('Waiting for webhooks');
    await session.run('sh webhook-event');
    await receiver.prints(verified);
    await receiver.stop('SIGTERM');
    await session.run('sh webhook-event');
    await expect
      .poll(async () => JSON.parse(await session.run('sh webhook-dead')) as unknown, {
        timeout: 30_000,
        interval: 500,
      })
      .toMatchObject(JSON.parse(textAfter('sh webhook-dead')) as object);
    const again = example('webhook-receiver.ts', env);
    await again.prints('Waiting for webhooks');
    expect(JSON.parse(await session.run('sh webhook-replay'))).toMatchObject({ replayed: 1, remaining: 0 });
    await again.prints(verified);
    await again.stop('SIGTERM');
  });

  it('shows what happened and who did it: recorded, verified, tampered with and named', () =>
    onNewDatabase(async (url, data, databaseUrl) => {
      const place = { $DATABASE_URL: databaseUrl ?? '' };
      const session = await sessionOf(url, data, place);
      const printed = async (language: string) => JSON.parse(await session.run(language)) as unknown;
      const [listed, valid, invalid] = ['sh audit-list', 'sh audit-verify', 'sh audit-tamper'].map(
        (language) => JSON.parse(textAfter(language)) as object,
      );
      await session.run('sh audit');
      await expect
        .poll(() => printed('sh audit-list'), { timeout: 20_000, interval: 200 })
        .toMatchObject(listed!);
      expect(await printed('sh audit-verify')).toMatchObject(valid!);
      expect(await session.run('sh audit-export')).toMatch(
        /^intact: 1 to \d+, 0 purged, head [0-9a-f]{64}\n$/,
      );
      if (databaseUrl === undefined) return;
      await session.run('sh audit-tamper');
      expect(await printed('sh audit-verify')).toMatchObject(invalid!);
      await (await sessionOf(url, data, { ...place, critical: 'info' })).run('sh audit-tamper');
      expect(await printed('sh audit-verify')).toMatchObject(valid!);
    }));

  it('shows the SDK example of examples/, which runs', async () => {
    const [shown] = blocks.filter((block) => block.language === 'ts');
    expect(shown?.text).toBe(await readFile(join(root, 'examples/first-calls.ts'), 'utf8'));
    const token = (await readFile(join(data, 'root-token'), 'utf8')).trim();
    for (const time of ['first', 'second']) {
      const { stdout } = await run(process.execPath, ['examples/first-calls.ts'], {
        cwd: root,
        env: { ...process.env, PLINTH_URL: server.url, PLINTH_ROOT_TOKEN: token },
      });
      expect(stdout, `the ${time} run`).toBe(
        'true - role "editor" grants "document:write"\nrole editor\n403 missing scope authz:write\n',
      );
    }
  });
});

describe('the first five minutes with the mock and the SDK', () => {
  let mock: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    mock = await start(['mock', '--stateful'], tmpdir());
  }, 30_000);
  afterAll(() => void mock.child.kill('SIGTERM'));

  const at = blocks.findIndex(({ language }) => language === 'ts mock');
  const [script, printed] = blocks.slice(at, at + 2).map(({ text }) => text);
  const pointed = () => script?.replace('http://127.0.0.1:4010', mock.url) ?? '';

  it('are the script of examples/, which prints what is shown', async () => {
    expect(script).toBe(await readFile(join(root, 'examples/mock-calls.ts'), 'utf8'));
    const running = run(process.execPath, ['--input-type=module-typescript', '-'], { cwd: root });
    running.child.stdin?.end(pointed());
    expect((await running).stdout).toBe(printed);
  });

  it.skipIf(!chromium)('say the same in a page', async () => {
    // A mock with a memory of its own.
    const program = await bundled(
      pointed().replace("token: 'any'", "token: 'any', headers: { 'X-Tenant-ID': 'page' }"),
    );
    const pages = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end(`<script type="module">${program}</script>`);
    }).listen(0, '127.0.0.1');
    const browser = await launchChromium(chromium!);
    try {
      const page = await browser.newPage();
      const said: string[] = [];
      page.on('console', (message) => message.type() === 'log' && said.push(`${message.text()}\n`));
      page.on('pageerror', (error) => said.push(error.message));
      await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
      await expect.poll(() => said.join(''), { timeout: 20_000 }).toBe(printed);
    } finally {
      await browser.close();
      pages.close();
    }
  });

  it('have commands that answer what is shown', async () => {
    const shown = examples('sh mock');
    const answers = await shell(
      shown.map((example) => example.script),
      { 'http://127.0.0.1:4010': mock.url },
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.map((_, at) => JSON.parse(answers[at] ?? ''))).toEqual(shown.map(({ printed }) => printed));
  });
});
