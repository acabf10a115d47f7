import type { Phone } from '../../../../generated/auth/server.ts';
import type { Context } from '../../../http/context.ts';
import { appInContext } from '../directory/app-context.ts';
import type { Deps } from '../factors/deps.ts';
import { sendPhoneCode, signInByPhone } from './phone-signin.ts';
import { answerSignin, visitOf } from './signin.ts';

/** Phone: sign-in by a code that is sent to a phone. */
export const phone = (deps: Deps) => {
  const { directory, limits } = deps;

  /** Without a key and an `app_id` the app is `default`: the contract requires neither for these operations. */
  const appOf = (publishableKey: string | undefined, appId: string | undefined) =>
    appInContext(directory, {
      publishableKey,
      appId: publishableKey === undefined ? (appId ?? 'default') : appId,
    });

  return {
    async sendCode({ body, ...headers }, { ip }) {
      const app = await appOf(headers['X-Publishable-Key'], body.app_id);
      await limits.take('sms', ip);
      return { status: 'code_sent', expires_at: await sendPhoneCode(deps, app, body.phone, ip) };
    },

    async verify({ body, ...headers }, context) {
      const app = await appOf(headers['X-Publishable-Key'], body.app_id);
      await limits.take('code', context.ip);
      const visit = visitOf(context, headers['X-Device-Token']);
      return answerSignin(context, await signInByPhone(deps, app, body, visit));
    },
  } satisfies Phone<Context>;
};
