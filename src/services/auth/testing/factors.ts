import { Secret, TOTP } from 'otpauth';
import type { AuthResult, NewMfaEnrollment } from '../../../../generated/auth/types.ts';
import { newPhone, type tools } from './index.ts';

type Api = ReturnType<typeof tools>;

/** A user who signed up and has a verified second factor. */
export interface Enrolled extends AuthResult {
  readonly enrollment: NewMfaEnrollment;
  readonly codes: readonly string[];
}

/** The code of an authenticator app, `steps` steps of 30 seconds from now. */
export const codeOf = ({ secret }: Pick<NewMfaEnrollment, 'secret'>, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret!) }).generate({ timestamp: Date.now() + steps * 30_000 });

/** A user with an authenticator app. Its current code is used up, the next one is not. */
export async function enrolled(api: Api, account: object = {}): Promise<Enrolled> {
  const signedUp = await api.signUp(account);
  const { session_token: token } = signedUp;
  const enrollment = (await api.send('POST', '/mfa/enroll', { token, body: {} })) as NewMfaEnrollment;
  await api.send('POST', '/mfa/verify', { token, body: { code: codeOf(enrollment) } });
  return { ...signedUp, enrollment, codes: enrollment.recovery_codes };
}

/** Adds a phone that receives codes to the user's factors; returns its number. */
export async function withPhone(api: Api, { session_token: token }: AuthResult): Promise<string> {
  const phone = newPhone();
  await api.send('POST', '/mfa/enroll', { token, body: { method: 'sms', phone } });
  const { code } = await api.message(phone, 'mfa_code');
  await api.send('POST', '/mfa/verify', { token, body: { method: 'sms', code } });
  return phone;
}
