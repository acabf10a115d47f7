import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

const readUsers = { name: 'read:users', description: 'Read user profiles' };
const absent = 'kscp_01m7w6qgepfq9s8vc58hzpbf9z';

contract('Scopes', (api) => {
  describe('create', () => {
    it('201 with the scope as stored', async () => {
      const { keys } = api.tenant().plinth;
      expect(await keys.scopes.create({ body: readUsers })).toMatchObject(readUsers);
    });

    it('409 when the name is taken', async () => {
      const tenant = api.tenant();
      await tenant.plinth.keys.scopes.create({ body: readUsers });
      await tenant.refused(409, 'scope name already exists', ({ keys }) =>
        keys.scopes.create({ body: readUsers }),
      );
    });
  });

  describe('list', () => {
    it('200 with the scopes of the tenant', async () => {
      const { keys } = api.tenant().plinth;
      const { id } = await keys.scopes.create({ body: readUsers });
      expect((await keys.scopes.list()).map((scope) => scope.id)).toEqual([id]);
    });
  });

  describe('get', () => {
    it('200 with the scope', async () => {
      const { keys } = api.tenant().plinth;
      const { id } = await keys.scopes.create({ body: readUsers });
      expect(await keys.scopes.get({ scopeId: id })).toMatchObject(readUsers);
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'scope not found', ({ keys }) => keys.scopes.get({ scopeId: absent })));
  });

  describe('delete', () => {
    it('204', async () => {
      const { keys } = api.tenant().plinth;
      const { id } = await keys.scopes.create({ body: readUsers });
      await keys.scopes.delete({ scopeId: id });
    });

    it('404 when it does not exist', () =>
      api.tenant().refused(404, 'scope not found', ({ keys }) => keys.scopes.delete({ scopeId: absent })));
  });
});

behaviour('Scopes', (api) => {
  it('a deleted scope is taken from the keys that hold it', async () => {
    const { keys } = api.tenant().plinth;
    const { id } = await keys.scopes.create({ body: readUsers });
    const { key, raw_key } = await keys.keys.create({
      body: { name: 'Reporting job', scopes: ['read:users', 'stays'] },
    });
    await keys.scopes.delete({ scopeId: id });
    expect((await keys.keys.get({ keyId: key.id })).scopes).toEqual(['stays']);
    const { code } = await keys.keys.validate({ body: { raw_key, required_scopes: ['read:users'] } });
    expect(code).toBe('INSUFFICIENT_SCOPES');
  });

  it('a name that a key is given is registered with it', async () => {
    const { keys } = api.tenant().plinth;
    await keys.keys.create({ body: { name: 'Reporting job', scopes: ['write:users'] } });
    expect((await keys.scopes.list()).map(({ name }) => name)).toEqual(['write:users']);
  });
});
