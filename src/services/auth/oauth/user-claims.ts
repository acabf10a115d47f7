import type { User, UserClaims } from '../../../../generated/auth/types.ts';

/** The claims that each scope grants (OpenID Connect Core, section 5.4). */
export const claimsOfScopes = {
  openid: ['sub'],
  profile: ['name', 'preferred_username', 'picture', 'updated_at'],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
} as const satisfies Record<string, readonly (keyof UserClaims)[]>;

/** Returns the user's claims within these scopes. Claims without a value are omitted. */
export function claimsOf(user: User, scopes: readonly string[]): UserClaims {
  const known: Omit<UserClaims, 'sub'> = {
    ...(scopes.includes('profile') && {
      name: user.name,
      preferred_username: user.username,
      picture: user.image,
      updated_at: Math.floor(Date.parse(user.updated_at) / 1000),
    }),
    ...(scopes.includes('email') &&
      user.email !== null && {
        email: user.email,
        email_verified: user.email_verified,
      }),
    ...(scopes.includes('phone') &&
      user.phone !== null && {
        phone_number: user.phone,
        phone_number_verified: user.phone_verified,
      }),
  };
  return { sub: user.id, ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null)) };
}
