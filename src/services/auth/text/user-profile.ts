import type { User, UserUpdate } from '../../../../generated/auth/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { checkMetadata, cleanEmail, cleanName, cleanText } from './text-rules.ts';

/** Returns members of an account in their stored form; absent members stay absent. */
export function cleanProfile<Given extends UserUpdate>(given: Given): Given {
  const { email, username, name, image, metadata } = given;
  if (metadata !== undefined) checkMetadata(metadata);
  return {
    ...given,
    ...(typeof email === 'string' ? { email: cleanEmail(email) } : {}),
    ...(typeof username === 'string' ? { username: cleanText('username', username) } : {}),
    ...(name === undefined ? {} : { name: cleanName('name', name) }),
    ...(typeof image === 'string' ? { image: cleanText('image', image) || null } : {}),
  };
}

/** Checks that an account can be found by some identifier. */
export function checkReachable({ email, username, phone }: Pick<User, 'email' | 'username' | 'phone'>): void {
  if (email === null && username === null && phone === null)
    throw Invalid('email: an account needs an email, a username or a phone number');
}
