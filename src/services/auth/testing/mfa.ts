import type {
  AuthResult,
  MfaChallenge,
  MfaEnrollment,
  NewMfaEnrollment,
} from '../../../../generated/auth/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { codeOf } from './factors.ts';
import { newPhone, password, tools } from './index.ts';

/** The refusal of a sign-in that does not say what was wrong. */
export const refused = [401, 'invalid credentials'];

/** A well-formed code that matches none of the next or last steps. */
export const wrongCodeOf = (enrollment: Pick<NewMfaEnrollment, 'secret'>) => {
  const near = [-2, -1, 0, 1, 2].map((steps) => codeOf(enrollment, steps));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code))!;
};

/** Helpers for the tests of second factors. @param at returns the server once it runs */
export function mfaTools(at: () => TestServer) {
  const api = () => tools(at());
  const post = (path: string, body?: object, token: string | null = null) =>
    at().request('POST', `/auth/v1/auth${path}`, { token, body });
  const enroll = (token: string, body: object = {}): Promise<NewMfaEnrollment> =>
    api().send('POST', '/mfa/enroll', { token, body });
  const verify = (token: string, body: object): Promise<MfaEnrollment> =>
    api().send('POST', '/mfa/verify', { token, body });
  const signin = ({ user }: Pick<AuthResult, 'user'>): Promise<AuthResult | MfaChallenge> =>
    api().send('POST', '/signin', { token: null, body: { email: user.email, password, app_id: 'default' } });

  return {
    post,
    enroll,
    verify,
    signin,
    refusal: (path: string, body?: object, token: string | null = null) =>
      api().refusal('POST', path, { token, body }),
    list: (token: string): Promise<MfaEnrollment[]> => api().send('GET', '/mfa/enrollments', { token }),
    /** A user with a verified authenticator app. Its current code is used up, the next one is not. */
    withTotp: async () => {
      const signedUp = await api().signUp();
      const enrollment = await enroll(signedUp.session_token);
      await verify(signedUp.session_token, { code: codeOf(enrollment) });
      return { ...signedUp, enrollment };
    },
    /** A user with a verified phone. */
    withSms: async () => {
      const signedUp = await api().signUp();
      const phone = newPhone();
      const enrollment = await enroll(signedUp.session_token, { method: 'sms', phone });
      await verify(signedUp.session_token, { code: (await api().message(phone, 'mfa_code')).code });
      return { ...signedUp, enrollment, phone };
    },
    challenged: async (known: Pick<AuthResult, 'user'>) => {
      const result = await signin(known);
      if (!('challenge_token' in result)) throw new Error('no challenge');
      return result;
    },
    answer: (challenge: MfaChallenge, method: string, code: string) =>
      post('/mfa/challenge', { challenge_token: challenge.challenge_token, method, code }),
    /** The events of a user, by type. */
    events: async (userId: string, type: string) => {
      const rows = await at().db.sql<{ data: Record<string, unknown> }[]>`
        select data from auth.outbox where type = ${type} and subject = ${userId} order by seq`;
      return rows.map(({ data }) => data);
    },
    /** Forgets which code was used last, as if time had passed. */
    forgetSteps: (userId: string) =>
      at().db.sql`update auth.enrollments set last_step = null where user_id = ${userId}`,
    /** Forgets which numbers got texts, as if time had passed. */
    forgetTexts: () => at().db.sql`delete from auth.quotas`,
  };
}
