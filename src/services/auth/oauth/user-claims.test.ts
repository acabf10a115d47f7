import { expect, it } from 'vitest';
import type { User } from '../../../../generated/auth/types.ts';
import { claimsOf } from './user-claims.ts';

const ada: User = {
  id: 'user_01m7w6qgepfq9s8v7qdkvzwn91',
  app_id: 'default',
  email: 'ada@example.com',
  username: 'ada',
  name: 'Ada Lovelace',
  image: null,
  email_verified: true,
  phone: '+4930901820',
  phone_verified: false,
  banned: false,
  ban_reason: null,
  ban_expires_at: null,
  last_signin_at: null,
  metadata: {},
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.900Z',
};

it.each([
  [['openid'], {}],
  [['profile'], { name: 'Ada Lovelace', preferred_username: 'ada', updated_at: 1795167000 }],
  [['email'], { email: 'ada@example.com', email_verified: true }],
  [['phone'], { phone_number: '+4930901820', phone_number_verified: false }],
])('%j opens %j', (scopes, claims) => {
  expect(claimsOf(ada, scopes)).toEqual({ sub: ada.id, ...claims });
});

it('what is not known is not told', () => {
  const nobody = { ...ada, email: null, phone: null, name: null, username: null };
  expect(claimsOf(nobody, ['profile', 'email', 'phone'])).toEqual({ sub: ada.id, updated_at: 1795167000 });
});
