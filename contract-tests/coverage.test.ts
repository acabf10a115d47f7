/**
 * What the documents promise of the operations that the server has, against what really went over the wire to it. Runs after all
 * other files, in a project of its own; run alone it judges the last run.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operations } from '../generated/operations.ts';
import { nameOf } from './contract.ts';
import { readRecords, readServed } from './records.ts';

/** Pairs that no test covers yet, one a line: `authz.Roles_create 500`. The list may only get shorter. */
const listed = readFileSync(new URL('uncovered.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean);

describe.skipIf(process.env['TARGET'] === 'mock')('coverage of the contract', () => {
  const answers = readRecords().filter(({ target }) => target === 'server');
  const seen = new Set(answers.map(({ operation, status }) => `${operation} ${status}`));
  const served = new Set(readServed('server'));
  const promised = operations
    .filter((operation) => served.has(nameOf(operation)))
    .flatMap((operation) => operation.responses.map(({ status }) => `${nameOf(operation)} ${status}`));

  it('has seen every documented answer of every operation, but for those listed', () => {
    expect(promised.filter((pair) => !seen.has(pair) && !listed.includes(pair))).toEqual([]);
  });

  it('lists no pair that is covered, and none that the contract does not have', () => {
    expect(listed.filter((pair) => seen.has(pair) || !promised.includes(pair))).toEqual([]);
  });

  it('lists nothing of auth, authz and keys, which are complete', () => {
    for (const service of ['auth', 'authz', 'keys'])
      expect(operations.filter((one) => one.service === service && !served.has(nameOf(one)))).toEqual([]);
    expect(listed.filter((pair) => /^(auth|authz|keys)\./.test(pair))).toEqual([]);
  });
});
