import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Api } from '../harness.ts';
import { absent, newName, newType, send, usedBefore } from './hooks.ts';

const schema = { type: 'object', required: ['amount'], properties: { amount: { type: 'integer' } } };
const example = { amount: 4900 };
const invoice = { description: 'An invoice was paid in full.', group: 'invoice' };

const types = (api: Api) => api.operator().plinth.webhooks.eventTypes;

contract('Event types', (api) => {
  describe('create', () => {
    it('201 with the type', async () => {
      const name = newName();
      const { data, response } = await types(api)
        .create({ body: { name, ...invoice, schema, example } })
        .response();
      expect(response.status).toBe(201);
      expect(data).toMatchObject({ ...invoice, deprecated: false, deprecated_at: null });
    });

    it('400 with a schema that refers to another document', () =>
      api
        .operator()
        .refused(400, 'schema: reference out of the document at /properties/amount', ({ webhooks }) =>
          webhooks.eventTypes.create({
            body: {
              name: newName(),
              schema: { properties: { amount: { $ref: 'https://example.com/amount.json' } } },
            },
          }),
        ));

    it('400 with an example that the schema does not allow', () =>
      api
        .operator()
        .refused(400, /^example\b/, ({ webhooks }) =>
          webhooks.eventTypes.create({ body: { name: newName(), schema, example: { amount: 'a lot' } } }),
        ));

    it('403 for everyone but the operator', () =>
      api
        .tenant()
        .withKey(['webhooks:admin'])
        .then((key) =>
          key.refused(403, /./, ({ webhooks }) => webhooks.eventTypes.create({ body: { name: newName() } })),
        ));

    it('409 when the idempotency key was used with another body', async () => {
      const once = { idempotencyKey: newName() };
      await types(api).create({ body: { name: newName() } }, once);
      await api
        .operator()
        .refused(409, usedBefore, ({ webhooks }) =>
          webhooks.eventTypes.create({ body: { name: newName() } }, once),
        );
    });
  });

  describe('list', () => {
    it('200 with the types of a group', async () => {
      const group = api.target === 'mock' ? 'invoice' : newName();
      await newType(api, { group });
      expect((await api.tenant().plinth.webhooks.eventTypes.list({ group })).map((one) => one.group)).toEqual(
        [group],
      );
    });
  });

  describe('get', () => {
    it('200 with the type, for every tenant', async () => {
      const { name } = await newType(api, { ...invoice, schema });
      expect(await api.tenant().plinth.webhooks.eventTypes.get({ name })).toMatchObject(invoice);
    });

    it('404 when it does not exist', () =>
      api
        .tenant()
        .refused(404, `event type not found: ${absent.type}`, ({ webhooks }) =>
          webhooks.eventTypes.get({ name: absent.type }),
        ));
  });

  describe('update', () => {
    it('200 with the type as it is now', async () => {
      const { name } = await newType(api);
      expect(await types(api).update({ name, body: invoice })).toMatchObject(invoice);
    });

    it('404 when it does not exist', () =>
      api
        .operator()
        .refused(404, `event type not found: ${absent.type}`, ({ webhooks }) =>
          webhooks.eventTypes.update({ name: absent.type, body: invoice }),
        ));
  });

  describe('delete', () => {
    it('204', async () => {
      const { name } = await newType(api);
      await types(api).delete({ name });
    });

    it('404 when it does not exist', () =>
      api
        .operator()
        .refused(404, `event type not found: ${absent.type}`, ({ webhooks }) =>
          webhooks.eventTypes.delete({ name: absent.type }),
        ));
  });
});

behaviour('Event types', (api) => {
  it('a deprecated type takes no events, is hidden from the list, and is revived by a change', async () => {
    const { name } = await newType(api, { group: newName() });
    const tenant = api.tenant();
    await types(api).delete({ name });
    await tenant.refused(400, `event type is deprecated: ${name}`, (plinth) =>
      plinth.webhooks.events.create({ body: { type: name } }),
    );
    const revived = await types(api).update({ name, body: { description: 'Again.' } });
    expect(revived).toMatchObject({ deprecated: false, deprecated_at: null });
    await send(tenant, name);
  });

  it('a walk over the list meets every type once, by name', async () => {
    const group = newName();
    const names = [];
    for (let count = 0; count < 5; count++) names.push((await newType(api, { group })).name);
    await types(api).delete({ name: names[0]! });
    const met = [];
    const request = { group, include_deprecated: true, limit: 2 };
    for await (const { name } of api.tenant().plinth.webhooks.eventTypes.list(request)) met.push(name);
    expect(met).toEqual([...names].sort());
    expect(await api.tenant().plinth.webhooks.eventTypes.list({ group })).toHaveLength(4);
  });

  it('an example that the schema allows is what a new version shows', async () => {
    const { name } = await newType(api, { schema, example });
    expect(await types(api).get({ name })).toMatchObject({ schema, example });
  });
});
