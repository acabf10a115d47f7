import { expect, it } from 'vitest';
import { checkNewPassword, formProblem, knownWords } from './password-rules.ts';

const ada = { email: 'ada.lovelace@example.com', username: 'Countess1815', name: 'Ada Lovelace' };
const nobody = { email: null, username: null, name: null };

it.each<[password: string, fewest: number, problem: string | undefined]>([
  ['seven brass wheels', 8, undefined],
  ['пароль-и-ключ', 8, undefined],
  ['🦊🐢🦉🐙🦀🐝🦄🐺', 8, undefined],
  ['🦊🐢🦉🐙🦀🐝🦄', 8, 'must have at least 8 characters'],
  ['seven77', 8, 'must have at least 8 characters'],
  ['seven brass', 12, 'must have at least 12 characters'],
  ['x'.repeat(256), 8, undefined],
  ['x'.repeat(257), 8, 'must have at most 256 characters'],
  ['Ada.Lovelace@Example.com', 8, 'must not be the email, username or name'],
  ['ADA.lovelace', 8, 'must not be the email, username or name'],
  ['countess1815', 8, 'must not be the email, username or name'],
  ['ada lovelace', 8, 'must not be the email, username or name'],
  ['ada lovelace!', 8, undefined],
])('%s with at least %d: %s', (password, fewest, problem) => {
  expect(formProblem(password, fewest, ada)).toBe(problem);
});

it('an account without names has no names to be equal to', () => {
  expect(formProblem('ada lovelace', 8, nobody)).toBeUndefined();
});

it('the words that somebody would try first are the names of the account and of the app, whole and in parts', () => {
  expect(knownWords(ada, 'Analytical Engines')).toEqual([
    'ada.lovelace@example.com',
    'ada.lovelace',
    'countess1815',
    'ada lovelace',
    'analytical engines',
    'ada',
    'lovelace',
    'example',
    'com',
    'analytical',
    'engines',
  ]);
  expect(knownWords({ ...nobody, name: 'ab '.repeat(50) + 'x y z' }, 'Al')).toHaveLength(1);
});

it('what is weak is refused by the name of its field, and says what to do', async () => {
  const app = { name: 'App', settings: { password_min_length: 8 } };
  const passwords = { weaknessOf: async () => 'is too common' };
  await expect(
    checkNewPassword(passwords, 'iloveyou123', { app, owner: ada, field: 'new_password' }),
  ).rejects.toThrow('new_password: is too common: choose several unrelated words');
});
