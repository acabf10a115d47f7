import { WeakPassword } from '../errors.ts';
import type { Passwords } from './passwords.ts';

/** Names of the account that its password must not equal. */
export interface PasswordOwner {
  readonly email: string | null;
  readonly username: string | null;
  readonly name: string | null;
}

/** The context of a new password. */
export interface NewPassword {
  readonly app: { readonly name: string; readonly settings: { readonly password_min_length: number } };
  readonly owner: PasswordOwner;
  /** The name of the member in the request. */
  readonly field: 'password' | 'new_password';
  readonly signal?: AbortSignal | undefined;
}

const mostCharacters = 256;
const shortestWord = 3;
const mostWords = 24;

/** How to choose a strong password. */
export const advice = 'choose several unrelated words';

/**
 * Refuses a new password that is too short, too long, a name of the account, or easy to guess. There are no rules on which
 * characters it contains. Only new passwords are measured: sign-ins with old ones still work.
 * @throws Invalid naming the field, RateLimited
 */
export async function checkNewPassword(
  passwords: Pick<Passwords, 'weaknessOf'>,
  password: string,
  { app, owner, field, signal }: NewPassword,
): Promise<void> {
  const problem = formProblem(password, app.settings.password_min_length, owner);
  if (problem !== undefined) throw WeakPassword(problem, field);
  const weakness = await passwords.weaknessOf(password, knownWords(owner, app.name), signal);
  if (weakness !== undefined) throw WeakPassword(`${weakness}: ${advice}`, field);
}

/** Returns the problem with the password before its strength is measured. */
export function formProblem(
  password: string,
  fewestCharacters: number,
  { email, username, name }: PasswordOwner,
): string | undefined {
  const count = [...password].length;
  if (count < fewestCharacters) return `must have at least ${fewestCharacters} characters`;
  if (count > mostCharacters) return `must have at most ${mostCharacters} characters`;
  const folded = fold(password);
  return [email, email?.split('@')[0], username, name].some((known) => known && fold(known) === folded)
    ? 'must not be the email, username or name'
    : undefined;
}

/** Words that a guesser who knows the owner tries first: names, whole and in parts. */
export function knownWords({ email, username, name }: PasswordOwner, app: string): string[] {
  const whole = [email, email?.split('@')[0], username, name, app].filter((text) => text != null);
  const parts = whole.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u));
  const words = [...whole, ...parts].filter((word) => word.length >= shortestWord).map(fold);
  return [...new Set(words)].slice(0, mostWords);
}

const fold = (text: string) => text.normalize('NFC').toLowerCase();
