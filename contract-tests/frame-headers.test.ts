/**
 * The headers that the frame reads for all handlers are documented for exactly the operations on which it reads them: compares
 * the documents with the operations table, and both with the server's behaviour.
 */
import { describe, expect, it } from 'vitest';
import { operations, type Operation } from '../generated/operations.ts';
import { creates } from '../src/http/repeat.ts';
import { documentOf, nameOf, parametersOf } from './contract.ts';
import { connect } from './harness.ts';
import { exampleRequest } from './requests.ts';
import { servedBy, targetOf } from './targets.ts';

const onBehalf = ['X-Tenant-ID', 'X-App-ID', 'X-User-ID', 'X-Subject-ID'];
const key = 'Idempotency-Key';

/** Whether the frame identifies the caller. */
const identifies = ({ access, optionalCredentials }: Operation): boolean =>
  access !== 'public' || optionalCredentials === true;

const headersOf = (operation: Operation): string[] =>
  parametersOf(operation)
    .filter((parameter) => parameter.in === 'header')
    .map(({ name }) => name);

/** Whether the handler takes an idempotency key itself and handles it in its own way. */
const takesKey = ({ parameters }: Operation): boolean => parameters.some(({ name }) => name === key);

const failing = (holds: (operation: Operation) => boolean): string[] =>
  operations.filter((operation) => !holds(operation)).map(nameOf);

describe('the headers of the frame', () => {
  it('are parameters of every operation that takes the credentials of the platform, and of no other', () => {
    expect(failing(identifies)).not.toEqual([]);
    const given = (operation: Operation) => onBehalf.filter((name) => headersOf(operation).includes(name));
    expect(failing((one) => given(one).length === (identifies(one) ? onBehalf.length : 0))).toEqual([]);
  });

  it('have the key by which a request is safe to repeat where the frame honours it, and nowhere else', () => {
    expect(operations.filter(creates).length).toBeGreaterThan(80);
    const answers = ({ responses }: Operation, status: number) =>
      responses.some((one) => one.status === status);
    const makes = (one: Operation) => one.verb === 'POST' && answers(one, 201) && answers(one, 409);
    expect(failing((one) => !makes(one) || creates(one) || takesKey(one))).toEqual([]);
    // Others are marked in the contract, one by one.
    const marked = operations.filter((one) => creates(one) && !makes(one));
    expect(marked.every((one) => answers(one, 409))).toBe(true);
    expect(marked.map(nameOf)).toEqual(expect.arrayContaining(['control.Instances_restart']));
    expect(operations.filter((one) => takesKey(one) && creates(one)).map(nameOf)).toEqual([]);
    const expected = (one: Operation) => creates(one) || takesKey(one);
    expect(failing((one) => headersOf(one).includes(key) === expected(one))).toEqual([]);
  });

  it('are named once in an operation, described once in a document, with bounds and an example', () => {
    expect(failing((one) => new Set(headersOf(one)).size === headersOf(one).length)).toEqual([]);
    const shared = [...new Set(operations.map(({ service }) => service))].flatMap((service) =>
      Object.values(documentOf(service).components.parameters ?? {}).filter(
        ({ name }) => onBehalf.includes(name) || name === key,
      ),
    );
    expect(shared.length).toBeGreaterThan(14 * onBehalf.length);
    for (const parameter of shared)
      expect(parameter).toMatchObject({
        ...{ description: expect.stringMatching(/^\w.{20,}\.$/s), example: expect.stringMatching(/./) },
        schema: { pattern: expect.any(String), minLength: 1, maxLength: expect.any(Number) },
      });
  });

  it('are not taken by handlers', () => {
    const taken = ({ parameters }: Operation) => parameters.map(({ name }) => name);
    expect(failing((one) => !onBehalf.some((name) => taken(one).includes(name)))).toEqual([]);
  });
});

const server = targetOf('server');
// The answer to HEAD has no body that could say what it is about.
const served = servedBy('server').filter(
  ({ verb, responses }) => verb !== 'HEAD' && responses.some(({ status }) => status === 400),
);

describe.skipIf(!server)('the server', () => {
  /** Returns the answer to root for a header in an invalid form: the server refuses it before it does anything. */
  async function told(operation: Operation, name: string): Promise<string> {
    const { path, init } = exampleRequest(operation);
    const headers = { ...init.headers, [name]: 'a b' };
    const onBreach = (breach: string) => expect.fail(breach);
    const root = connect({ target: 'server', ...server!, onBreach }).operator();
    const response = await root.fetch(path, { ...init, headers, redirect: 'manual' });
    return `${response.status} ${await response.text()}`;
  }

  const named = (some: readonly Operation[]) => some.map((one) => [nameOf(one), one] as const);

  describe.each(onBehalf)('reads %s', (name) => {
    it.each(named(served.filter((one) => headersOf(one).includes(name))))('of %s', async (_, operation) => {
      expect(await told(operation, name)).toMatch(new RegExp(`^400 .*${name}: must match`, 's'));
    });
  });

  // Root without a user has no access to a user's own resources.
  const creating = served.filter((one) => headersOf(one).includes(key) && one.access !== 'user');
  it.each(named(creating))('reads Idempotency-Key of %s', async (_, operation) => {
    expect(await told(operation, key)).toMatch(/^400 .*Idempotency-Key: must/s);
  });
});
