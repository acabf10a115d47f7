import { describe, expect, it } from 'vitest';
import { behaviour, contract } from '../harness.ts';

contract('auth Tokens', (api) => {
  describe('resolve', () => {
    it('200 with whom a token stands for', async () => {
      const { plinth, ...operator } = api.operator();
      const { sessionToken, id } = await operator.withUser();
      const principal = await plinth.auth.tokens.resolve({ body: { token: sessionToken } });
      expect(principal).toMatchObject({ active: true, kind: 'session' });
      if (api.target === 'server') expect(principal).toMatchObject({ user_id: id });
    });
  });
});

behaviour('auth Tokens', (api) => {
  it('resolve: 200 for a token that stands for nobody', async () => {
    expect(await api.operator().plinth.auth.tokens.resolve({ body: { token: 'garbage' } })).toEqual({
      active: false,
    });
  });

  describe('changes', () => {
    it('200 with what is revoked', async () => {
      const { plinth, ...operator } = api.operator();
      const ada = await operator.withUser();
      const [own] = (await ada.plinth.auth.sessions.list()).sessions;
      const stream = await plinth.auth.tokens.changes();
      await ada.plinth.auth.accounts.signout();
      for await (const { event, data } of stream)
        if (event === 'change' && data.id === own!.id) {
          expect(data).toMatchObject({ kind: 'session', effect: 'refuse' });
          break;
        }
    });

    it('410 for a place in the stream that is long gone', () =>
      api
        .operator()
        .refused(410, /Last-Event-ID/, ({ auth }) =>
          auth.tokens.changes({ 'Last-Event-ID': '999999999999' }).response(),
        ));
  });
});
