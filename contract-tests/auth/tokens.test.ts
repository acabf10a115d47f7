import { describe, expect, it } from 'vitest';
import type { Change } from '../../generated/auth/types.ts';
import { behaviour, contract } from '../harness.ts';

contract('auth Tokens', (api) => {
  describe('resolve', () => {
    it('200 with whom a token stands for', async () => {
      const { plinth, ...operator } = api.operator();
      const { sessionToken, id } = await operator.withUser();
      const principal = await plinth.auth.tokens.resolve({ body: { token: sessionToken } });
      if (api.target === 'server')
        expect(principal).toMatchObject({ active: true, kind: 'session', user_id: id });
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
      const heard: Change[] = [];
      const listening = (async () => {
        for await (const { data } of plinth.auth.tokens.changes()) if (heard.push(data) > 0) return;
      })();
      // The start of the stream is unknown, so the test repeats an event until it is received.
      while (heard.length === 0) await (await operator.withUser()).plinth.auth.accounts.signout();
      await listening;
      expect(heard).toEqual([
        expect.objectContaining({ effect: expect.stringMatching(/^(refuse|reload)$/) }),
      ]);
    });

    it('410 for a place in the stream that is long gone', () =>
      api
        .operator()
        .refused(410, /Last-Event-ID/, ({ auth }) =>
          auth.tokens.changes({ 'Last-Event-ID': '999999999999' }).response(),
        ));
  });
});
