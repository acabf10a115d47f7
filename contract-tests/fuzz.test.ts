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
import { shownPages } from './auth/shown.ts';
import { tenantWithApp } from './auth/people.ts';
import { sentenceOf } from './coherence.ts';
import { breaches } from './conformance.ts';
import { nameOf } from './contract.ts';
import { requests, type Generated } from './generated-requests.ts';
import { connect } from './harness.ts';
import { contentTypeOf, pathOf, type WireRequest } from './requests.ts';
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
        const response = await send(operation, request, caller, page);
        const wrong =
          response.status >= 500 ? [`status ${response.status}: ${await response.clone().text()}`] : [];
        const unnamed = response.status === 400 ? await nameless(response) : [];
        expect([...wrong, ...unnamed, ...(await breaches(operation, response))]).toEqual([]);
        await remember(response);
      });
      let caller: Record<string, string> = {};
      let page: WireRequest | undefined;
      // Small batches, at least one: the seed that a failure prints, as FUZZ_SEED, repeats it at once.
      const until = Date.now() + limit;
      for (let batch = 0; batch === 0 || Date.now() < until; batch++) {
        caller = await callerOf(operation, batch);
        if (operation.resource === 'Pages') page = await shownBefore(operation);
        await fc.assert(answered, { seed: seed + batch, numRuns: 20, endOnFailure: true });
      }
    },
    limit + 30_000,
  );

  async function send(
    operation: Operation,
    { parameters, query, headers, body, shown }: Generated,
    caller: Record<string, string>,
    page: WireRequest | undefined,
  ): Promise<Response> {
    const ofPage = shown && body !== undefined ? page : undefined;
    const path = ofPage?.path ?? `/${operation.service}${pathOf(operation, replaced(parameters))}`;
    return fetch(`${server!.url}${path}${query}`, {
      method: operation.verb,
      headers: {
        ...caller,
        ...(body === undefined ? {} : { 'content-type': contentTypeOf(operation) }),
        ...ofPage?.init.headers,
        ...headers,
      },
      body: body === undefined ? null : guarded(ofPage, inApp(operation, replacedIn(body))),
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

  /** The request of a browser that was shown the page: a form of any other one is not looked at. */
  async function shownBefore(operation: Operation): Promise<WireRequest> {
    const { url, rootToken } = server!;
    const tenant = await tenantWithApp(
      connect({ target: 'server', url, rootToken, onBreach: (breach) => expect.fail(breach) }),
    );
    return (await shownPages(tenant, await tenant.withUser()))(operation);
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

/** The form with what the page carries of its own accord. */
function guarded(page: WireRequest | undefined, text: string): string {
  if (!page) return text;
  const carried = new URLSearchParams(page.init.body);
  const form = new URLSearchParams(text);
  for (const name of ['csrf', 'token', 'app_id']) {
    const value = carried.get(name);
    if (value !== null) form.set(name, value);
  }
  return form.toString();
}
