/**
 * The isolation between tenants, at every operation that takes an id: another tenant's id is answered exactly like one that
 * does not exist, with the same status, headers and bytes. What the id names stays unchanged.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../generated/operations.ts';
import { nameOf } from './contract.ts';
import { furnish, pathKinds, readAll, said, send, type Furnished } from './furnish.ts';
import { behaviour, type Credential } from './harness.ts';
import { absentId, idPlaces, requestWith, type IdPlace } from './ids.ts';
import { servedBy, targetOf } from './targets.ts';

/** Public operations belong to no tenant. */
const operations = servedBy('server').filter(({ access }) => access !== 'public');

/** All scopes except the operator's `*`. */
const allScopes = (targetOf('server')?.services ?? []).map((service) => `${service}:*`);

const cases = operations.flatMap((operation) =>
  idPlaces(operation).map(
    (place) => [`${nameOf(operation)}, ${place.in} ${place.name}`, operation, place] as const,
  ),
);

behaviour('Tenants', (api) => {
  const owner = api.tenant();
  const stranger = api.tenant();
  let theirs: Furnished;
  let own: Furnished;
  let before: Map<string, string>;
  const asked: { name: string; credential: () => Promise<Credential>; isUser: boolean }[] = [
    {
      name: 'root in its name',
      credential: async () => (own.user ? stranger.asUser(own.user.id) : stranger),
      isUser: true,
    },
    { name: 'an API key of its own', credential: () => stranger.withKey(allScopes), isUser: false },
  ];

  beforeAll(async () => {
    theirs = await furnish(owner);
    own = await furnish(stranger);
    before = await readAll(theirs);
  });

  it('have things of every kind that a path names', () => {
    const kinds = new Set(operations.flatMap(pathKinds));
    expect([...kinds].filter((prefix) => !theirs.pool.has(prefix))).toEqual([]);
    expect(before.size).toBeGreaterThan(0);
  });

  describe.each(asked)('asked by $name', ({ credential, isUser }) => {
    let caller: Credential;
    beforeAll(async () => {
      caller = await credential();
    });

    it.each(cases)(
      "another tenant's id is as absent as one that does not exist: %s",
      async (_, operation, place) => {
        const foreign = await answer(caller, operation, place, theirs.pool.get(place.prefix)!);
        expect(foreign).toEqual(await answer(caller, operation, place, absentId(place.prefix)));
        const isRefused = (operation.access === 'user' && !isUser) || operation.access === 'operator';
        const expected = isRefused ? 403 : 404;
        if (place.in === 'path') expect(foreign.status, foreign.body).toBe(expected);
      },
    );
  });

  it('leave what belongs to others as it was', async () => {
    expect(await readAll(theirs)).toEqual(before);
  });

  const answer = async (caller: Credential, operation: Operation, place: IdPlace, id: string) =>
    said(await send(caller, requestWith(operation, own.pool, { place, id })), id);
});
