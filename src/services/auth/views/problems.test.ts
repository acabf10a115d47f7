import { expect, test } from 'vitest';
import { Conflict, Internal, Invalid, NotFound } from '../../../lib/errors.ts';
import {
  FormInvalid,
  InvalidCredentials,
  InvalidToken,
  Throttled,
  UserBanned,
  WeakPassword,
} from '../errors.ts';
import { problemsOf, waiting } from './problems.ts';

const wrong = 'This is not right.';

test.each<[Error, { summary?: string; fields?: Record<string, string>; status?: number }]>([
  [InvalidCredentials(), { summary: wrong }],
  [UserBanned(), { summary: 'This account is suspended.' }],
  [WeakPassword('is too common'), { fields: { password: 'The password is too common.' } }],
  [
    Invalid('email: must be an email address'),
    { fields: { email: 'The address must be an email address.' } },
  ],
  [Invalid('metadata: at most 64 members'), { summary: 'Metadata: at most 64 members.' }],
  [Invalid('sms is not configured'), { summary: 'Text messages cannot be sent here.' }],
  [
    FormInvalid([{ field: 'metadata.company', message: 'required' }]),
    { fields: { 'field.company': 'Answer this question.' } },
  ],
  [Conflict('username already taken'), { fields: { username: 'This username is already taken.' } }],
  [Conflict('already a member'), { summary: 'You are already a member.' }],
  [Throttled(3), { summary: 'Too many attempts. Try again in 3 seconds.', status: 429 }],
])('%s', (thrown, { summary, fields = {}, status = 400 }) => {
  const problems = problemsOf(thrown, wrong);
  expect([problems.status, problems.summary, problems.fields]).toEqual([status, summary, fields]);
});

test.each([Internal(new Error('x')), NotFound('user'), InvalidToken(), new Error('x')])(
  '%s is for no form to say',
  (thrown) => {
    expect(() => problemsOf(thrown, wrong)).toThrow(thrown);
  },
);

test.each([
  [0.2, '1 second'],
  [89, '89 seconds'],
  [90, '2 minutes'],
  [900, '15 minutes'],
])('%d seconds are %s', (seconds, text) => {
  expect(waiting(seconds)).toBe(text);
});
