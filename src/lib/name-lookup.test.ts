import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { nameLookup } from './name-lookup.ts';
import { createOutbound, TargetRefused } from './outbound.ts';
import { get, strict } from './testing/outbound.ts';
import { nameServer, type Zone } from './testing/name-server.ts';

/** Looks names up at a name server that knows this zone. */
async function lookups(zone: Zone, timeoutMs = 1_000) {
  const lookup = nameLookup({ servers: [await nameServer(zone)], timeoutMs });
  return (name: string) =>
    new Promise<LookupAddress[]>((resolve, reject) =>
      lookup(name, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
    );
}

describe('a name', () => {
  it('has the addresses of both families', async () => {
    const lookup = await lookups({ 'both.example': ['2001:db8::1', '192.0.2.1', '192.0.2.2'] });
    expect(await lookup('both.example')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
  });

  it.each(['localhost', 'LocalHost.', 'app.localhost'])('such as %s is the machine itself', async (name) => {
    const lookup = await lookups({ localhost: ['192.0.2.1'] });
    expect((await lookup(name)).map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
  });

  it.each<[string, string, Zone]>([
    ['does not exist', 'ENOTFOUND', {}],
    ['has no address', 'ENOTFOUND', { 'name.example': [] }],
    ['is refused by its server', 'EAI_AGAIN', { 'name.example': 'refused' }],
    ['is never answered', 'EAI_AGAIN', { 'name.example': 'silent' }],
  ])('that %s is an error', async (_, code, zone) => {
    const lookup = await lookups(zone, 50);
    await expect(lookup('name.example')).rejects.toMatchObject({ code });
  });

  it('whose server is silent keeps no other name waiting', async () => {
    const silent = Array.from({ length: 40 }, (_, nth) => `silent-${nth}.example`);
    const zone = Object.fromEntries(silent.map((name) => [name, 'silent' as const]));
    const lookup = await lookups({ ...zone, 'good.example': ['192.0.2.1'] });
    const ended: string[] = [];
    for (const name of silent) void lookup(name).catch(() => ended.push(name));
    expect(await lookup('good.example')).toHaveLength(1);
    expect(ended).toEqual([]);
  });
});

it('a client whose requests may not reach private hosts asks for names without the operating system', async () => {
  const client = createOutbound(strict);
  // The operating system would know the name of this machine, or ask for it.
  await expect(client.send(get('https://anything.localhost/'))).rejects.toBeInstanceOf(TargetRefused);
  await client.close();
});
