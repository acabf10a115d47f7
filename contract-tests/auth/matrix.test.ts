/**
 * The isolation within a tenant, at every operation that takes an id: a resource of another app, or another user's own, is
 * answered exactly like one that does not exist. `../tenants.test.ts` tests the isolation between tenants.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../generated/operations.ts';
import { nameOf } from '../contract.ts';
import { furnish, pathKinds, readAll, said, send, type Furnished } from '../furnish.ts';
import { behaviour, type Credential } from '../harness.ts';
import { absentId, idPlaces, requestWith, type Pool } from '../ids.ts';
import { exampleRequest } from '../requests.ts';
import { servedBy } from '../targets.ts';
import { absentUser } from './people.ts';

const operations = servedBy('server').filter(
  ({ service, access }) => service === 'auth' && access !== 'public',
);
const named = (which: readonly Operation[]) =>
  which.map((operation) => [nameOf(operation), operation] as const);

const withIds = named(operations.filter((operation) => pathKinds(operation).length > 0));
/** Operations of users on their own resources, alone or in an organization. */
const ofUsers = named(
  operations.filter((operation) => pathKinds(operation).length > 0 && /^(user|any)$/.test(operation.access)),
);

/** Ids of things that never existed. */
const absent: Pool = new Map(
  withIds.flatMap(([, operation]) => pathKinds(operation)).map((prefix) => [prefix, absentId(prefix)]),
);

behaviour('auth walls', (api) => {
  const tenant = api.tenant();
  let theirs: Furnished;
  let own: Furnished;
  let before: Map<string, string>;
  let elsewhere: Credential;
  let neighbour: Credential;

  beforeAll(async () => {
    // This runs before the app has a form with further sign-up requirements.
    neighbour = await tenant.withUser();
    theirs = await furnish(tenant);
    const other = await tenant.plinth.auth.apps.create({ body: { name: 'Other', slug: 'other' } });
    own = await furnish(tenant, other.id);
    elsewhere = own.user!;
    const { roles } = await tenant.inApp(other.id).plinth.auth.roles.list();
    const { id: roleId } = roles.find(({ slug }) => slug === 'admin')!;
    await tenant.inApp(other.id).plinth.auth.roles.assign({ roleId, body: { user_id: own.user!.id } });
    before = await readAll(theirs);
  });

  it('there is something of every kind to be found', () => {
    expect([...absent.keys()].filter((prefix) => !theirs.pool.has(prefix))).toEqual([]);
  });

  it.each(withIds)("an administrator of another app sees nothing of this one's: %s", async (_, operation) => {
    const foreign = await answer(elsewhere, operation, theirs.pool, own.pool);
    expect(foreign).toEqual(await answer(elsewhere, operation, absent, own.pool));
    expect(foreign.status, foreign.body).toBe(404);
  });

  it.each(ofUsers)("another user of the app sees nothing of what is one's own: %s", async (_, operation) => {
    const foreign = await answer(neighbour, operation, theirs.pool, theirs.pool);
    expect(foreign).toEqual(await answer(neighbour, operation, absent, theirs.pool));
    expect(foreign.status, foreign.body).toBe(nameOf(operation) === 'auth.Users_roles' ? 403 : 404);
  });

  it('what belongs to others is what it was', async () => {
    expect(await readAll(theirs)).toEqual(before);
  });

  describe('a key with all scopes but the one that is needed', () => {
    const scopes = ['read', 'write', 'admin'] as const;
    const keys = new Map<string, Credential>();
    beforeAll(async () => {
      for (const lacking of scopes) {
        const others = scopes.filter((scope) => scope !== lacking).map((scope) => `auth:${scope}`);
        keys.set(lacking, await tenant.withKey([...others, 'authz:*', 'keys:*']));
      }
    });

    it.each(named(operations.filter(({ access }) => scopes.some((scope) => scope === access))))(
      '403: %s',
      async (_, operation) => {
        const response = await send(keys.get(operation.access)!, requestWith(operation, theirs.pool));
        expect(response.status).toBe(403);
        expect(await response.json()).toMatchObject({ error: `missing scope auth:${operation.access}` });
      },
    );
  });

  it.each(named(operations.filter(({ access }) => access === 'user')))(
    'root in the name of nobody is answered as documented: %s',
    async (_, operation) => {
      const response = await send(tenant.asUser(absentUser), exampleRequest(operation));
      expect(response.status).toBeLessThan(500);
      await response.body?.cancel();
    },
  );

  /** Returns the answer to a caller when every id in the path comes from one pool, and all other ids come from the other. */
  async function answer(caller: Credential, operation: Operation, pool: Pool, rest: Pool) {
    const inPath = idPlaces(operation).filter((place) => place.in === 'path');
    const ids = inPath.map(({ prefix }) => [prefix, pool.get(prefix)!] as const);
    const request = requestWith(operation, new Map([...rest, ...ids]));
    const answered = await said(await send(caller, request), '');
    return {
      ...answered,
      body: ids.reduce((body, [prefix, id]) => body.replaceAll(id, prefix), answered.body),
    };
  }
});
