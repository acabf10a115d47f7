import { describe, expect, it } from 'vitest';
import { contract, type Api } from '../harness.ts';
import { kinds, newName } from './kinds.ts';

type Name = keyof typeof kinds;

/** What the clients of all kinds have in common. */
interface Client {
  create(request: { body: object }): Promise<{ id: string; name: string }>;
  list(request: object): AsyncIterable<{ id: string }>;
  get(request: object): Promise<{ id: string }>;
  update(request: object): Promise<{ id: string; description: string }>;
  delete(request: object): Promise<void>;
}

contract('Rules', (api: Api) => {
  describe.each(Object.keys(kinds) as Name[])('%s', (name) => {
    const { prefix, entity, body } = kinds[name];
    const clientOf = (plinth: { safety: unknown }) => (plinth.safety as Record<Name, Client>)[name];
    const rules = () => clientOf(api.operator().plinth);
    const byId = (id: string, more: object = {}) => ({
      [name === 'policies' ? 'policyId' : 'id']: id,
      ...more,
    });
    const never = byId(`${prefix}_01m7w4n5e0zzzzzzzzzzzzzzzz`);
    const make = () => rules().create({ body: { name: newName(), ...body } });

    it('create: 201 with the rule', async () => {
      expect((await make()).id).toMatch(new RegExp(`^${prefix}_`));
    });

    it('create: 400 with a name that is reserved', () =>
      api
        .operator()
        .refused(400, 'name: must not begin with builtin/', (plinth) =>
          clientOf(plinth).create({ body: { name: 'builtin/mine', ...body } }),
        ));

    it('create: 409 with a name that is taken', async () => {
      const { name: taken } = await make();
      await api
        .operator()
        .refused(409, `${entity} "${taken}" already exists`, (plinth) =>
          clientOf(plinth).create({ body: { name: taken, ...body } }),
        );
    });

    it('list: 200 with the newest first', async () => {
      const { id } = await make();
      const listed = [];
      for await (const rule of rules().list({ limit: 1 })) {
        listed.push(rule.id);
        break;
      }
      expect(listed).toHaveLength(1);
      if (api.target === 'server') expect(listed).toEqual([id]);
    });

    it('list: 400 with a cursor that no list gave', () =>
      api.operator().refused(400, /^cursor: /, async (plinth) => {
        for await (const _ of clientOf(plinth).list({ cursor: 'x' })) return;
      }));

    it('get: 200 with the rule', async () => {
      const { id } = await make();
      expect((await rules().get(byId(id))).id).toBeDefined();
    });

    it('get: 400 with an id of another kind', () =>
      api
        .operator()
        .refused(400, /id: must be an id that starts with|Id: must be an id that starts with/i, (plinth) =>
          clientOf(plinth).get(byId('role_01h455vb4pex5vsknk084sn02q')),
        ));

    it('get, update, delete: 404 for one that does not exist', async () => {
      for (const call of [
        (client: Client) => client.get(never),
        (client: Client) => client.update({ ...never, body: { description: 'x' } }),
        (client: Client) => client.delete(never),
      ])
        await api.operator().refused(404, `${entity} not found`, (plinth) => call(clientOf(plinth)));
    });

    it('update: 200 with the changed rule', async () => {
      const { id } = await make();
      const changed = await rules().update(byId(id, { body: { description: 'changed' } }));
      if (api.target === 'server') expect(changed).toMatchObject({ id, description: 'changed' });
    });

    it('update: 400 with a member that does not exist', async () => {
      const { id } = await make();
      await api
        .operator()
        .refused(400, 'colour: unknown', (plinth) =>
          clientOf(plinth).update(byId(id, { body: { colour: 'red' } })),
        );
    });

    it('update: 409 with a name that is taken', async () => {
      const [one, other] = [await make(), await make()];
      await api
        .operator()
        .refused(409, /already exists$/, (plinth) =>
          clientOf(plinth).update(byId(one.id, { body: { name: other.name } })),
        );
    });

    it('delete: 204, and 400 with an id of another kind', async () => {
      const { id } = await make();
      await rules().delete(byId(id));
      await api
        .operator()
        .refused(400, /must be an id/, (plinth) =>
          clientOf(plinth).delete(byId('role_01h455vb4pex5vsknk084sn02q')),
        );
    });

    it('everything that changes them: 403 for everyone but the operator', async () => {
      const key = await api.tenant().withKey(['safety:admin']);
      await key.refused(403, 'operator only', (plinth) =>
        clientOf(plinth).create({ body: { name: newName(), ...body } }),
      );
      await key.refused(403, 'operator only', (plinth) => clientOf(plinth).update({ ...never, body: {} }));
      await key.refused(403, 'operator only', (plinth) => clientOf(plinth).delete(never));
    });
  });

  it.each(['instincts', 'awareness', 'values', 'judgments', 'profiles'] as const)(
    'delete %s: 409 for a built-in one',
    async (name) => {
      const id = `${kinds[name].prefix}_00000000000000000000000001`;
      await api
        .operator()
        .refused(409, `${kinds[name].entity} is built in and cannot be changed`, (plinth) =>
          (plinth.safety as unknown as Record<Name, Client>)[name].delete({ id }),
        );
    },
  );

  it.each(['boundaries', 'reflexes'] as const)('delete %s: 409 for one that a profile uses', async (name) => {
    const { safety } = api.operator().plinth;
    const client = (safety as unknown as Record<Name, Client>)[name];
    const made = await client.create({ body: { name: newName(), ...kinds[name].body } });
    if (api.target === 'server')
      await safety.profiles.create({ body: { name: newName(), [name]: [made.name] } });
    await api
      .operator()
      .refused(409, /^in use by profile /, (plinth) =>
        (plinth.safety as unknown as Record<Name, Client>)[name].delete({ id: made.id }),
      );
  });
});
