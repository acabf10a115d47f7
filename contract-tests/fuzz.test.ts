/**
 * Requests that the contract allows and requests with something wrong, made from its schemas, against the real server. Whatever
 * they say, the answer is documented, fits its schema and is no 5xx.
 *
 *     FUZZ_SECONDS=600 FUZZ_SEED=42 npx vitest run contract-tests/fuzz.test.ts
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { App, AuthResult } from '../generated/auth/types.ts';
import type { Operation } from '../generated/operations.ts';
import { broken, hostile, valid } from './arbitraries.ts';
import { sentenceOf } from './coherence.ts';
import { breaches } from './conformance.ts';
import { nameOf, parametersOf, type Schema } from './contract.ts';
import { bodySchema, contentTypeOf, formMembers, pathOf, takesForm } from './requests.ts';
import { servedBy, targetOf } from './targets.ts';

const seconds = Number(process.env['FUZZ_SECONDS'] || 60);
const seed = Number(process.env['FUZZ_SEED'] || Date.now() % 2 ** 31);
const server = targetOf('server');
const operations = servedBy('server');
const hasUsers = operations.some(({ service }) => service === 'auth');

/** What makes things first, so that the ids of those that exist can be tried with everything else. */
const order = (['POST', 'GET', 'PATCH', 'PUT', 'HEAD', 'DELETE'] as const).map(String);
const ordered = [...operations].sort((a, b) => order.indexOf(a.verb) - order.indexOf(b.verb));
const limit = (seconds * 1000) / operations.length;

describe.skipIf(!server)('generated requests', () => {
  const existing = new Map<string, string[]>();
  const tenant = `fuzz-${seed}`;
  const root = { authorization: `Bearer ${server?.rootToken ?? ''}`, 'x-tenant-id': tenant };
  let app = { id: '', key: '' };

  beforeAll(async () => {
    console.log(`fuzz: FUZZ_SEED=${seed} FUZZ_SECONDS=${seconds}`);
    if (hasUsers) app = await firstApp();
  });

  it.each(ordered.map((operation) => [nameOf(operation), operation] as const))(
    'are answered as documented by %s',
    async (_, operation) => {
      const answered = fc.asyncProperty(requests(operation), async (request) => {
        const response = await send(operation, request, caller);
        const wrong =
          response.status >= 500 ? [`status ${response.status}: ${await response.clone().text()}`] : [];
        const unnamed = response.status === 400 ? await nameless(response) : [];
        expect([...wrong, ...unnamed, ...(await breaches(operation, response))]).toEqual([]);
        await remember(response);
      });
      let caller: Record<string, string> = {};
      // Small batches, at least one: the seed that a failure prints, as FUZZ_SEED, repeats it at once.
      const until = Date.now() + limit;
      for (let batch = 0; batch === 0 || Date.now() < until; batch++) {
        caller = await callerOf(operation, batch);
        await fc.assert(answered, { seed: seed + batch, numRuns: 20, endOnFailure: true });
      }
    },
    limit + 30_000,
  );

  async function send(
    operation: Operation,
    { parameters, query, headers, body }: Generated,
    caller: Record<string, string>,
  ): Promise<Response> {
    const path = `/${operation.service}${pathOf(operation, replaced(parameters))}`;
    return fetch(`${server!.url}${path}${query}`, {
      method: operation.verb,
      headers: {
        ...caller,
        ...(body === undefined ? {} : { 'content-type': contentTypeOf(operation) }),
        ...headers,
      },
      body: body === undefined ? null : inApp(operation, replacedIn(body)),
      // Where a browser goes next is the answer.
      redirect: 'manual',
      signal: AbortSignal.timeout(20_000),
    });
  }

  /** Whoever the operation is for: root, or a user in this tenant, by their session and by root in their name. */
  async function callerOf({ access, service }: Operation, batch: number): Promise<Record<string, string>> {
    if (access === 'operator') return { authorization: root.authorization };
    if (access === 'public') return service === 'auth' ? { 'x-publishable-key': app.key } : root;
    if (access !== 'user' && !(service === 'auth' && access === 'any' && batch % 2 === 1)) return root;
    const { session_token, user } = await signIn();
    return batch % 2 === 0 ? { authorization: `Bearer ${session_token}` } : { ...root, 'x-user-id': user.id };
  }

  const asked = async <Answer>(path: string, headers: Record<string, string>, body: object) => {
    const response = await fetch(`${server!.url}/auth/v1/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    expect(response.ok, path).toBe(true);
    return (await response.json()) as Answer;
  };

  /** The app in this tenant, and the key by which visitors say that they are there. */
  async function firstApp() {
    const { id, publishable_keys } = await asked<App>('/apps', root, { name: 'Fuzz', slug: 'fuzz' });
    return { id, key: publishable_keys[0]!.key };
  }

  /** Root makes the account: by now the app may ask more of those who sign up than can be guessed. */
  async function signIn(): Promise<AuthResult> {
    const account = { email: `fuzz-${randomUUID()}@example.com`, password: 'seven brass wheels '.repeat(4) };
    await asked('/users', root, { ...account, email_verified: true });
    return asked<AuthResult>('/signin', { 'x-publishable-key': app.key }, account);
  }

  /** Ids of the examples stand for whatever of their kind exists by now. */
  const replacedIn = (text: string): string =>
    text.replaceAll(
      /\b([a-z]+)_01m7w[0-9a-hjkmnp-tv-z]{21}/g,
      (id, prefix: string) => existing.get(prefix)?.at(-1) ?? id,
    );
  /** The app of the examples is another tenant's. */
  const inApp = ({ ownApps }: Operation, text: string): string =>
    ownApps ? text.replaceAll('"app_id":"default"', `"app_id":"${app.id}"`) : text;
  const replaced = (values: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, replacedIn(value)]));

  async function remember(response: Response): Promise<void> {
    if (response.headers.get('content-type') !== 'application/json')
      return void (await response.body?.cancel());
    const text = await response.text();
    if (!response.ok) return;
    for (const [id, prefix] of text.matchAll(/\b([a-z]+)_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g)) {
      existing.set(prefix!, [...(existing.get(prefix!) ?? []).slice(-20), id]);
    }
  }
});

/** The sentence of a 400 that says what is wrong without saying where. In OAuth's own envelope the standards say it. */
async function nameless(response: Response): Promise<string[]> {
  const text = await response.clone().text();
  if (response.headers.get('content-type') !== 'application/json') return [];
  const envelope = JSON.parse(text) as object;
  if ('error_description' in envelope) return [];
  const sentence = String(sentenceOf(envelope));
  return /^[^:]*: ./s.test(sentence) || /\b(app_id|publishable key)\b/.test(sentence) ? [] : [text];
}

/** A segment that is empty or a dot would be another path. */
const isSegment = (text: string) => !/^\.{0,2}$/.test(text);

/** A request before the ids of what exists are put in. */
interface Generated {
  readonly parameters: Record<string, string>;
  /** With its question mark. */
  readonly query: string;
  readonly headers: Record<string, string>;
  /** Sent as it is. */
  readonly body: string | undefined;
}

function requests(operation: Operation): fc.Arbitrary<Generated> {
  const parameters = (place: 'path' | 'query', required: boolean, fits: (text: string) => boolean) => {
    const own = parametersOf(operation).filter((parameter) => parameter.in === place);
    const texts = own.map(
      ({ name, schema }) => [name, parameterText(operation, schema).filter(fits)] as const,
    );
    return fc.record(Object.fromEntries(texts), {
      requiredKeys: required ? own.map(({ name }) => name) : [],
    });
  };
  return fc.record({
    parameters: parameters('path', true, isSegment),
    query: fc
      .tuple(
        parameters('query', false, () => true),
        fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: oddQuery }),
      )
      .map(([known, odd]) => queryText(known, odd)),
    headers: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: oddHeaders }),
    body: bodies(operation),
  });
}

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    'idempotency-key': fc.constantFrom('a', 'b', 'x'.repeat(255), 'x'.repeat(256), '\u00e9', ' ', 'a b'),
    'x-publishable-key': fc.constantFrom('pk_0000000000000000000000', 'x', ' '),
    'x-device-token': fc.constantFrom('x', 'x'.repeat(5000), '\u00e9'),
    'last-event-id': fc.constantFrom('0', '1', '999999999999999', '-1', 'x', ''),
    'content-type': fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json; charset=latin1',
      'text/json',
      '/',
    ),
    'content-encoding': fc.constantFrom('gzip', 'identity', 'x'),
    'x-request-id': fc.constantFrom('mine', 'x'.repeat(500), '<script>'),
    accept: fc.constantFrom('*/*', 'text/html', 'nothing'),
  },
  { requiredKeys: [] },
);

const oddQuery = fc.constantFrom('bogus=1', '%', '=', '&&', 'limit=1&limit=2', '__proto__=1', '%00=%ff');

/** A parameter's value as text: mostly one that its schema allows. */
const parameterText = ({ service }: Operation, schema: Schema): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 8, arbitrary: valid(service, schema) },
      { weight: 1, arbitrary: fc.constantFrom(...hostile) },
    )
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 4_000));

function queryText(known: Record<string, string>, odd: string): string {
  const text = [...Object.entries(known).map(([name, value]) => `${name}=${encoded(value)}`), odd]
    .filter(Boolean)
    .join('&');
  return text === '' ? '' : `?${text}`;
}

/** Lone surrogates have no place in a URL; what a browser would send for them is U+FFFD. */
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

function bodies(operation: Operation): fc.Arbitrary<string | undefined> {
  const schema = bodySchema(operation);
  if (!schema) return fc.constant(undefined);
  const values = fc.oneof(valid(operation.service, schema), broken(operation.service, schema));
  const text = values.map((value) =>
    takesForm(operation) ? new URLSearchParams(formMembers(value)).toString() : JSON.stringify(value),
  );
  return fc.oneof(
    { weight: 30, arbitrary: text },
    { weight: 1, arbitrary: text.map((whole) => whole.slice(0, -1)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        ' ',
        'null',
        '{',
        '[1e999]',
        '{"a":1,"a":2}',
        '\ufeff{}',
        '{"__proto__":1}',
        '__proto__=1',
        'token=1&token=2',
        '%00=%ff&%=',
      ),
    },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}
