import { expect, test } from 'vitest';
import { versionProblem } from './server.ts';

test.each([
  [140_012, '14.12', false],
  [150_000, '15.0', true],
  [180_006, '18.6', true],
  [Number.NaN, 'of no version', false],
])('server version %i is accepted: %s', (number, name, accepted) => {
  const problem = versionProblem(number, name);
  if (accepted) expect(problem).toBeUndefined();
  else expect(problem).toContain(`PostgreSQL ${name}, Plinth needs PostgreSQL 15 or newer: set DATABASE_URL`);
});
