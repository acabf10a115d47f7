/**
 * The wall between tenants, at every operation that takes an id: another tenant's id is answered exactly as one that does not
 * exist: same status, same headers, same bytes; and what the id names is what it was before.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../generated/operations.ts';
import { nameOf } from './contract.ts';
import { behaviour, type Credential } from './harness.ts';
import { absentId, idPlaces, idsIn, requestWith, type IdPlace, type Pool } from './ids.ts';
import type { WireRequest } from './requests.ts';
import { servedBy, targetOf } from './targets.ts';

const operations = servedBy('server');

/** All but the operator's `*`. */
const allScopes = (targetOf('server')?.services ?? []).map((service) => `${service}:*`);

const cases = operations.flatMap((operation) =>
  idPlaces(operation).map(
    (place) => [`${nameOf(operation)}, ${place.in} ${place.name}`, operation, place] as const,
  ),
);

behaviour('Tenants', (api) => {
  const owner = api.tenant();
  const stranger = api.tenant();
  let theirs: Pool;
  let own: Pool;
  let before: Map<string, string>;
  const asked: { name: string; credential: () => Promise<Credential> }[] = [
    { name: 'root in its name', credential: async () => stranger },
    { name: 'an API key of its own', credential: () => stranger.withKey(allScopes) },
  ];

  beforeAll(async () => {
    theirs = await furnish(owner);
    own = await furnish(stranger);
    before = await readAll(owner, theirs);
  });

  it('have things of every kind that a path names', () => {
    const kinds = new Set(
      cases.filter(([, , place]) => place.in === 'path').map(([, , { prefix }]) => prefix),
    );
    expect([...kinds].filter((prefix) => !theirs.has(prefix))).toEqual([]);
    expect(before.size).toBeGreaterThanOrEqual(kinds.size);
  });

  describe.each(asked)('asked by $name', ({ credential }) => {
    let caller: Credential;
    beforeAll(async () => {
      caller = await credential();
    });

    it.each(cases)(
      "another tenant's id is as absent as one that does not exist: %s",
      async (_, operation, place) => {
        const foreign = await answer(caller, operation, place, theirs.get(place.prefix)!);
        expect(foreign).toEqual(await answer(caller, operation, place, absentId(place.prefix)));
        if (place.in === 'path') expect(foreign.status, foreign.body).toBe(404);
      },
    );
  });

  it('leave what belongs to others as it was', async () => {
    expect(await readAll(owner, theirs)).toEqual(before);
  });

  const answer = async (caller: Credential, operation: Operation, place: IdPlace, id: string) =>
    said(await send(caller, requestWith(operation, own, { place, id })), id);
});

const send = (credential: Credential, { path, init }: WireRequest): Promise<Response> =>
  credential.fetch(path, init);

/** All that a caller can see of an answer, with the id that was asked for made the same. */
async function said(response: Response, id: string) {
  const headers = Object.fromEntries(response.headers);
  delete headers['x-request-id'];
  delete headers['date'];
  return { status: response.status, headers, body: (await response.text()).replaceAll(id, '<id>') };
}

/** Makes one thing of every kind by the examples of the contract. What needs another thing first succeeds in a later round. */
async function furnish(tenant: Credential): Promise<Pool> {
  const pool = new Map<string, string>();
  const needs = (operation: Operation) => idPlaces(operation).length;
  const creating = operations.filter(makes).sort((a, b) => needs(a) - needs(b));
  const done = new Set<Operation>();
  for (let round = 0; round < 3; round++) {
    for (const operation of creating) {
      const paths = idPlaces(operation).filter((place) => place.in === 'path');
      if (done.has(operation) || !paths.every(({ prefix }) => pool.has(prefix))) continue;
      const response = await send(tenant, requestWith(operation, pool));
      const text = await response.text();
      if (!response.ok) continue;
      done.add(operation);
      for (const [id, prefix] of idsIn(text)) if (!pool.has(prefix)) pool.set(prefix, id);
    }
  }
  return pool;
}

/** Whether an operation brings something into being, and ends nothing. */
const makes = ({ method, verb, responses }: Operation): boolean =>
  (verb === 'POST' && responses.some(({ status }) => status === 201)) || method === 'rotate';

/** What the owner reads of all its things. */
async function readAll(tenant: Credential, pool: Pool): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  for (const operation of operations) {
    const places = idPlaces(operation).filter(({ in: where }) => where === 'path');
    if (
      operation.verb !== 'GET' ||
      operation.method !== 'get' ||
      !places.every(({ prefix }) => pool.has(prefix))
    )
      continue;
    const response = await send(tenant, requestWith(operation, pool));
    expect(response.status, nameOf(operation)).toBe(200);
    seen.set(nameOf(operation), await response.text());
  }
  return seen;
}
