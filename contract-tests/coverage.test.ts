/**
 * Compares what the documents promise for the server's operations with the answers it really gave. It runs after all other
 * files, in a separate project. When run alone, it checks the last run. After a run of some files, such as
 * `npm run contract contract-tests/keys contract-tests/*.test.ts`, it judges the services all of whose tests ran.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { operations, services } from '../generated/operations.ts';
import { nameOf } from './contract.ts';
import { readFiles, readRecords, readServed } from './records.ts';

/** Pairs that no test covers yet, one per line: `authz.Roles_create 500`. The list may only get shorter. */
const listed = readFileSync(new URL('uncovered.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean);

const folder = fileURLToPath(new URL('.', import.meta.url));
const testsIn = (place: string): string[] =>
  readdirSync(place, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map(({ name }) => `${place}${name}`);

/** The services whose own tests ran, together with those that concern all services. */
function judgedServices(): string[] {
  const ran = readFiles();
  const general = testsIn(folder).filter((path) => !path.endsWith('coverage.test.ts'));
  const tested = readdirSync(folder).filter((name) => name in services);
  if (!general.every((path) => ran.has(path))) return [];
  return tested.filter((name) => testsIn(`${folder}${name}/`).every((path) => ran.has(path)));
}

describe.skipIf(process.env['TARGET'] === 'mock')('coverage of the contract', () => {
  const answers = readRecords().filter(({ target }) => target === 'server');
  const seen = new Set(answers.map(({ operation, status }) => `${operation} ${status}`));
  const served = new Set(readServed('server'));
  const judged = new Set(judgedServices());
  const promised = operations
    .filter((operation) => judged.has(operation.service) && served.has(nameOf(operation)))
    .flatMap((operation) => operation.responses.map(({ status }) => `${nameOf(operation)} ${status}`));

  it('knows which tests ran', () => {
    expect([...readFiles()].filter((path) => path.startsWith(folder))).not.toEqual([]);
  });

  it('has seen every documented answer of every operation, but for those listed', () => {
    expect(promised.filter((pair) => !seen.has(pair) && !listed.includes(pair))).toEqual([]);
  });

  it('lists no pair that is covered, and none that the contract does not have', () => {
    const ofJudged = listed.filter((pair) => judged.has(pair.split('.', 1)[0]!));
    expect(ofJudged.filter((pair) => seen.has(pair) || !promised.includes(pair))).toEqual([]);
  });

  it('lists nothing of auth, authz and keys, which are complete', () => {
    for (const service of ['auth', 'authz', 'keys'])
      expect(operations.filter((one) => one.service === service && !served.has(nameOf(one)))).toEqual([]);
    expect(listed.filter((pair) => /^(auth|authz|keys)\./.test(pair))).toEqual([]);
  });
});
