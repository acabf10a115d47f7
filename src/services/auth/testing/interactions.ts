import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { password, tools } from './index.ts';
import { callback } from './oauth.ts';
import { testBrowser, type Seen, type TestBrowser } from './pages.ts';

/** The parameters of the final redirect to the client. */
export const told = ({ location }: Seen) => Object.fromEntries(new URL(location!).searchParams);

/** Helpers for the tests of the hosted pages of an authorization. @param at returns the server once it runs */
export function interactionTools(at: () => TestServer) {
  const client = (body: object = {}, options: object = {}): Promise<IssuedClient> =>
    tools(at()).send('POST', '/oauth2/clients', {
      ...options,
      body: { name: 'Reports', redirect_uris: [callback], scopes: ['openid', 'profile', 'email'], ...body },
    });

  return {
    client,
    /** Goes from a client to the sign-in page. */
    asked: async (of?: IssuedClient, parameters: Record<string, string> = {}, own = testBrowser(at())) => {
      const { id } = of ?? (await client());
      const query = new URLSearchParams({
        client_id: id,
        response_type: 'code',
        redirect_uri: callback,
        scope: 'openid profile email',
        state: 'here',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
        ...parameters,
      });
      const page = await own.follow(await own.open(`/oauth2/authorize?${query.toString()}`));
      return { own, page };
    },
    /** Signs in on the page, and continues from there. */
    signIn: async (own: TestBrowser, page: Seen, { email }: Pick<User, 'email'>, pass = password) =>
      own.follow(await own.submit(page, '/signin', { identifier: email!, password: pass })),
    /** The events about a user, by type. */
    events: (userId: string, type: string) =>
      at().db.sql<{ data: Record<string, unknown> }[]>`
        select data from auth.outbox where type = ${type} and data->>'user_id' = ${userId} order by id`,
  };
}
