import { describe, expect, it } from 'vitest';
import { contract } from '../harness.ts';
import { push, write } from './replicas.ts';

contract('Records', (api) => {
  describe('get', () => {
    it('200 with the fields of the record', async () => {
      const tenant = api.tenant();
      await push(tenant, 'phone-1', write('phone-1'));
      const record = await tenant.plinth.sync.records.get({ table: 'notes', pk: 'note-17' });
      expect(record).toMatchObject({ table: 'notes', pk: 'note-17', tombstone: false, truncated: false });
      if (api.target === 'server')
        expect(record.fields['title']).toMatchObject({ type: 'lww', value: 'Shopping' });
    });

    it('404 when it never existed', () =>
      api
        .tenant()
        .refused(404, 'record not found', ({ sync }) => sync.records.get({ table: 'notes', pk: 'none' })));
  });

  describe('list', () => {
    it('200 with the records by key', async () => {
      const tenant = api.tenant();
      await push(tenant, 'phone-1', write('phone-1'), write('phone-1', { pk: 'a' }));
      const keys = [];
      for await (const { pk } of tenant.plinth.sync.records.list({ table: 'notes', limit: 1 })) keys.push(pk);
      if (api.target === 'server') expect(keys).toEqual(['a', 'note-17']);
    });
  });
});
