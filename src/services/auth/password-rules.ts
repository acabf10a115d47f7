import { readFileSync } from 'node:fs';
import { WeakPassword } from './errors.ts';

/** What a password must not be equal to. */
export interface PasswordOwner {
  readonly email: string | null;
  readonly username: string | null;
  readonly name: string | null;
}

const mostCharacters = 256;

const common: ReadonlySet<string> = new Set(
  readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# ')),
);

/**
 * Refuses a new password that is too short, too long, common, or what the account is called anyway. Which characters it is made
 * of does not matter. @throws Invalid naming the field.
 */
export function checkNewPassword(
  password: string,
  fewestCharacters: number,
  owner: PasswordOwner,
  field: 'password' | 'new_password',
): void {
  const count = [...password].length;
  if (count < fewestCharacters)
    throw WeakPassword(`must have at least ${fewestCharacters} characters`, field);
  if (count > mostCharacters) throw WeakPassword(`must have at most ${mostCharacters} characters`, field);
  const folded = fold(password);
  if (common.has(folded)) throw WeakPassword('is too common', field);
  const { email, username, name } = owner;
  if ([email, email?.split('@')[0], username, name].some((known) => known && fold(known) === folded))
    throw WeakPassword('must not be the email, username or name', field);
}

const fold = (text: string) => text.normalize('NFC').toLowerCase();
