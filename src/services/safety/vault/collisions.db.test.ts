import { afterAll, beforeAll, expect, it } from 'vitest';
import { testSealer, testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';
import { digestOf, seal, tokenOf, vaultKeysOf } from './cryptography.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['safety'] });
  api = tools(server);
  await api.create('awareness', { name: 'keep', focus: 'pii', action: 'vault', detectors: [] });
  await api.create('profiles', { name: 'default', awareness: [{ awareness_name: 'keep' }] });
});
afterAll(() => server.close());

it('values whose tokens collide are told apart, and both are restored exactly', async () => {
  const [stored, collides, other] = ['first@example.com', 'second@example.com', 'third@example.com'];
  await api.scanInput('anyone@example.com');
  const { sql } = server.db;
  const [key] = await sql<[{ id: string; wrapped: Uint8Array }]>`select id, wrapped from safety.vault_key`;
  const keys = vaultKeysOf(testSealer.open('safety/vault/v1', 'default', key.wrapped));
  const short = (value: string) => tokenOf(digestOf(keys, 'email', value), 10);
  // Nobody finds two values with one token, so that of the second is given to the first.
  const token = `EMAIL_${short(collides)}`;
  const sealed = seal(keys, { tenant: 'default', token, name: 'email' }, stored);
  await sql`
    insert into safety.vault_token (tenant_id, token, key_id, name, digest, sealed, expires_at)
    values ('default', ${token}, ${key.id}, 'email', ${digestOf(keys, 'email', stored)}, ${sealed}, now() + interval '1 day')`;
  const text = `${collides} and ${other}`;
  const scans = await Promise.all([api.scanInput(text), api.scanOutput(text), api.scanInput(other)]);
  const long = tokenOf(digestOf(keys, 'email', collides), 16);
  const [together] = scans.map(({ redacted }) => redacted);
  expect(together).toBe(`[EMAIL_${long}] and [EMAIL_${short(other)}]`);
  expect(scans.map(({ redacted }) => redacted)).toEqual([together, together, `[EMAIL_${short(other)}]`]);
  const body = { text: `[${token}] ${together}` };
  expect(await api.send('POST', '/vault/restore', { body })).toEqual({
    ...{ text: `${stored} ${text}`, restored: 3, missing: 0 },
  });
});
