import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools, withAddress } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['safety'] });
  api = tools(server);
  await api.create('awareness', { name: 'keep', focus: 'pii', action: 'vault', detectors: [] });
  await api.create('profiles', { name: 'default', awareness: [{ awareness_name: 'keep' }] });
});
afterAll(() => server.close());

const restore = (text: string, tenant = 'default') =>
  api.send('POST', '/vault/restore', { body: { text }, tenant });
const erase = async (body: object, tenant = 'default') =>
  (await api.send('POST', '/vault/erase', { body, tenant })).erased as number;

describe('the vault', () => {
  it('gives back what was written, byte for byte, and the same token for the same value', async () => {
    const text = 'Ask John.Smith@Example.com — or +49 30 901820, or John.Smith@Example.com 🙂';
    const { redacted } = await api.scanInput(text);
    const [first, second] = redacted.match(/\[EMAIL_[0-9a-z]{10}\]/g)!;
    expect(first).toBe(second);
    expect(await restore(redacted)).toEqual({ text, restored: 3, missing: 0 });
    expect((await api.scanOutput(text)).redacted).toBe(redacted);
  });

  it('never restores for another tenant', async () => {
    const { redacted } = await api.scanInput(withAddress);
    expect(await restore(redacted, 'acme')).toEqual({ text: redacted, restored: 0, missing: 1 });
    await api.scanInput(withAddress, {}, { tenant: 'acme' });
    expect(await restore(redacted, 'acme')).toEqual({ text: redacted, restored: 0, missing: 1 });
  });

  it('forgets a scan, a user, and everything at once', async () => {
    const tenant = 'forgets';
    const scan = (text: string, user_id: string) => api.scanInput(text, { context: { user_id } }, { tenant });
    const one = await scan('a.one@example.com', 'one');
    const two = await scan('a.two@example.com and a.one@example.com', 'two');
    expect(await erase({ scan_id: one.id }, tenant)).toBe(0);
    expect((await restore(one.redacted, tenant)).restored).toBe(1);
    expect(await erase({ user_id: 'two' }, tenant)).toBe(2);
    expect((await restore(two.redacted, tenant)).missing).toBe(2);
    const three = await scan('a.three@example.com', 'one');
    expect(await erase({ all: true }, tenant)).toBe(1);
    expect((await restore(three.redacted, tenant)).missing).toBe(1);
    const four = await scan('a.three@example.com', 'one');
    expect(four.redacted).not.toBe(three.redacted);
    expect((await restore(`${three.redacted} ${four.redacted}`, tenant)).text).toBe(
      `${three.redacted} a.three@example.com`,
    );
  });

  it('that is erased while scans run keeps only what the new key can open', async () => {
    const tenant = 'races';
    const scans = Array.from({ length: 24 }, (_, index) =>
      api.scanInput(`racer.${index}@example.com`, {}, { tenant }),
    );
    const erasures = Array.from({ length: 3 }, () => erase({ all: true }, tenant));
    const [answers] = await Promise.all([Promise.all(scans), Promise.all(erasures)]);
    const living = await server.db.sql<{ token: string }[]>`
      select token from safety.vault_token join safety.vault_key as key on key.id = key_id
      where vault_token.tenant_id = ${tenant} and destroyed_at is null`;
    const all = answers.map(({ redacted }) => redacted).join(' ');
    expect((await restore(all, tenant)).restored).toBe(living.length);
  });

  it('seals its originals', async () => {
    const { redacted } = await api.scanInput('sealed.person@example.com');
    expect(redacted).toMatch(/^\[EMAIL_/);
    const rows = await server.db.sql<{ sealed: Uint8Array }[]>`select sealed from safety.vault_token`;
    expect(rows.length).toBeGreaterThan(0);
    for (const { sealed } of rows) expect(Buffer.from(sealed).includes('example.com')).toBe(false);
  });

  it.each([{}, { all: true, user_id: 'x' }])('erases nothing for %j', async (body) => {
    expect(await api.refusal('POST', '/vault/erase', { body })).toEqual([
      400,
      'body: exactly one of scan_id, user_id and all',
    ]);
  });
});
