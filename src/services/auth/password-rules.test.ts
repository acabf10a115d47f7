import { expect, it } from 'vitest';
import { checkNewPassword } from './password-rules.ts';

const ada = { email: 'ada.lovelace@example.com', username: 'Countess1815', name: 'Ada Lovelace' };
const nobody = { email: null, username: null, name: null };

const reasonOf = (password: string, fewest = 8, owner: typeof ada | typeof nobody = ada) => {
  try {
    checkNewPassword(password, fewest, owner, 'new_password');
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

it.each<[password: string, fewest: number, problem: string | undefined]>([
  ['seven brass wheels', 8, undefined],
  ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 8, undefined],
  ['пароль-и-ключ', 8, undefined],
  ['🦊🦊🦊🦊🦊🦊🦊🦊', 8, undefined],
  ['🦊🦊🦊🦊🦊🦊🦊', 8, 'must have at least 8 characters'],
  ['seven77', 8, 'must have at least 8 characters'],
  ['seven brass', 12, 'must have at least 12 characters'],
  ['x'.repeat(256), 8, undefined],
  ['x'.repeat(257), 8, 'must have at most 256 characters'],
  ['password', 8, 'is too common'],
  ['PassWord123', 8, 'is too common'],
  ['12345678', 8, 'is too common'],
  ['password123!', 8, undefined],
  ['Ada.Lovelace@Example.com', 8, 'must not be the email, username or name'],
  ['ADA.lovelace', 8, 'must not be the email, username or name'],
  ['countess1815', 8, 'must not be the email, username or name'],
  ['ada lovelace', 8, 'must not be the email, username or name'],
  ['ada lovelace!', 8, undefined],
])('%s with at least %d: %s', (password, fewest, problem) => {
  expect(reasonOf(password, fewest)).toBe(problem && `new_password: ${problem}`);
});

it('an account without names has no names to be equal to', () => {
  expect(reasonOf('ada lovelace', 8, nobody)).toBeUndefined();
});
