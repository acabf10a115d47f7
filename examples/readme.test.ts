/**
 * Runs the README's examples as they are printed: its shell blocks run against a new server, and their output has to match the
 * README.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../src/testing/chromium.ts';
import { blocks, examples, root, textAfter, textOf } from './testing/readme.ts';
import { example, findBrowser, freePort, run, sessionOf, shell, start, stop } from './testing/running.ts';

/** Replaces random text by its form. */
const withoutSecrets = (text: string) =>
  text
    .replace(/[A-Z2-7]{32}/, 'SECRET')
    .replace(/\w{4}-\w{4}-\w{4}/, 'RECOVERY')
    .replace(/ada-\w+@/, 'ADA@')
    .replace(/client_\w+/, 'CLIENT')
    .replace(/sec_\w+/, 'SECRET');

const chromium = findBrowser('examples/readme.test.ts');

describe('the README', () => {
  let data: string;
  let server: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'plinth-readme-'));
    server = await start(['serve'], data);
  });

  afterAll(async () => {
    await stop(server.child);
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
      // The callback once more, as after a reload.
      await page.goto(`${relyingParty}/callback?code=spent&state=spent`);
      expect(await page.textContent('body')).toContain('Welcome, Ada Lovelace!');
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
        timeout: 90_000,
        interval: 500,
      })
      .toMatchObject(JSON.parse(textAfter('sh webhook-dead')) as object);
    const again = example('webhook-receiver.ts', env);
    await again.prints('Waiting for webhooks');
    expect(JSON.parse(await session.run('sh webhook-replay'))).toMatchObject({ replayed: 1, remaining: 0 });
    await again.prints(verified);
    await again.stop('SIGTERM');
  });

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
