import type { DeviceGrant } from '../../../../generated/auth/server.ts';
import type { DeviceAuthorization } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { RateLimited } from '../../../lib/errors.ts';
import { presentedClient } from './client-authentication.ts';
import { deviceGrantStore, pollSeconds } from './device-grant.store.ts';
import { requestedScopes } from '../roles/granted-scopes.ts';
import { answerPageOf, answerProgram } from './oauth-answers.ts';
import type { OAuthDeps } from './oauth.ts';
import { formOf } from './oidc-requests.ts';
import { networkOf } from '../../../lib/addresses.ts';
import { sha256 } from '../directory/tokens.ts';
import { plainUserCode, userCodeHash } from '../directory/user-codes.ts';

/** DeviceGrant: how devices without a keyboard or a browser get tokens. */
export const deviceGrant = (deps: OAuthDeps) => {
  const { db, oidc, limits, issuer, oauthClients } = deps;

  /** Counts an unknown code against its network. @throws RateLimited if there were too many */
  async function lookUp(code: string, { ip }: Context): Promise<void> {
    const store = deviceGrantStore(db.sql);
    const network = sha256(`device ${networkOf(ip)}`);
    if (!(await store.reserveTry(network)))
      throw RateLimited('too many codes were tried', { retryAfter: await store.wait(network) });
    if (await store.isKnown(userCodeHash(code))) await store.giveBack(network);
  }

  return {
    async authorize({ body = {} }, context) {
      await limits.take('token', context.ip);
      const client_id = presentedClient(context, body)?.id ?? body.client_id;
      const client = client_id === undefined ? undefined : await oauthClients.find(client_id);
      const form = {
        ...body,
        ...(client_id !== undefined && { client_id }),
        ...(client && { scope: requestedScopes(body.scope, client.scopes) }),
      };
      const answer = await oidc.ask({ method: 'POST', path: '/oauth2/device-authorization', form }, context);
      const told = answerProgram<DeviceAuthorization>(context, answer, issuer);
      return answer.status === 200 ? { ...told, interval: pollSeconds } : told;
    },

    async page(request, context) {
      const path = `/oauth2/device?${formOf(request)}`;
      return answerPageOf(context, await oidc.ask({ method: 'GET', path, page: true }, context));
    },

    async send({ body }, context) {
      await lookUp(body.user_code, context);
      const form = { ...body, user_code: plainUserCode(body.user_code) };
      const request = { method: 'POST', path: '/oauth2/device', form, page: true } as const;
      return answerPageOf(context, await oidc.ask(request, context));
    },

    async resume({ uid }, context) {
      const request = { method: 'GET', path: `/oauth2/device/${uid}`, page: true } as const;
      return answerPageOf(context, await oidc.ask(request, context));
    },
  } satisfies DeviceGrant<Context>;
};
