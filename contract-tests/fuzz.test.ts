/**
 * Sends valid and invalid requests, generated from the contract's schemas, to the real server. Whatever they contain, the
 * answer is documented, matches its schema and is not a 5xx.
 *
 * The suite sends the same requests every time, however slow the machine is; another seed and more seconds look for errors that nobody
 * has found yet:
 *
 *     FUZZ_SECONDS=600 FUZZ_SEED=$RANDOM npx vitest run --project contract contract-tests/fuzz.test.ts
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

const seconds = Number(process.env['FUZZ_SECONDS'] || 0);
const seed = Number(process.env['FUZZ_SEED'] || 20261123);
/** The address of these requests: they use up the attempts of one network, and the other tests share another. */
const network = '203.0.113.66';
const server = targetOf('server');
const operations = servedBy('server');
const hasUsers = operations.some(({ service }) => service === 'auth');

/** Creating operations come first, so that the ids of existing things can be tried everywhere else. */
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
      // At least two batches, since the caller alternates between them. The batches are small, so that the seed that a failure prints
      // repeats it at once when given as FUZZ_SEED.
      const until = Date.now() + limit;
      for (let batch = 0; batch < 2 || Date.now() < until; batch++) {
        caller = await callerOf(operation, batch);
        if (operation.resource === 'Pages') page = await shownBefore(operation);
        await fc.assert(answered, { seed: seed + batch, numRuns: 10, endOnFailure: true });
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
        'x-forwarded-for': network,
      },
      body: body === undefined ? null : guarded(ofPage, hasty(inApp(operation, replacedIn(body)))),
      // The redirect itself is the answer to check.
      redirect: 'manual',
      signal: AbortSignal.timeout(20_000),
    });
  }

  /** Returns a caller that the operation admits: root, or a user of this tenant with their session or through root. */
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

  /** Creates the app of this tenant, and the key with which visitors identify it. */
  async function firstApp() {
    const { id, publishable_keys } = await asked<App>('/apps', root, { name: 'Fuzz', slug: 'fuzz' });
    return { id, key: publishable_keys[0]!.key };
  }

  /** Root creates the account: the app may by now demand more at sign-up than can be guessed. */
  async function signIn(): Promise<AuthResult> {
    const account = { email: `fuzz-${randomUUID()}@example.com`, password: 'seven brass wheels '.repeat(4) };
    await asked('/users', root, { ...account, email_verified: true });
    return asked<AuthResult>('/signin', { 'x-publishable-key': app.key }, account);
  }

  /** Returns the request of a browser that was shown the page. A form from any other browser is not read. */
  async function shownBefore(operation: Operation): Promise<WireRequest> {
    const { url, rootToken } = server!;
    const tenant = await tenantWithApp(
      connect({ target: 'server', url, rootToken, onBreach: (breach) => expect.fail(breach) }),
    );
    return (await shownPages(tenant, await tenant.withUser()))(operation);
  }

  /** Replaces the ids of the examples by existing ones of the same kind. */
  const replacedIn = (text: string): string =>
    text.replaceAll(
      /\b([a-z]+)_01m7w[0-9a-hjkmnp-tv-z]{21}/g,
      (id, prefix: string) => existing.get(prefix)?.at(-1) ?? id,
    );
  /** Replaces the app of the examples, which belongs to another tenant. */
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

/** Returns the message of a 400 that says what is wrong but not where. In OAuth's own envelope the standards define the message. */
async function nameless(response: Response): Promise<string[]> {
  const text = await response.clone().text();
  // The answer to HEAD has no body.
  if (text === '' || response.headers.get('content-type') !== 'application/json') return [];
  const envelope = JSON.parse(text) as object;
  if ('error_description' in envelope || refusesState(envelope)) return [];
  const sentence = String(sentenceOf(envelope));
  return /: ./s.test(sentence) || namesField.test(sentence) ? [] : [text];
}

/** Sentences of the documents that name a field without a colon. */
const namesField =
  /\b(app_id|publishable key)\b|^invalid (bucket name|cursor|entity tag list|hash|part number)$|^(bucket name|object key) is required$/;

/** The codes with which billing refuses because of the state of a thing, so that no field is at fault. */
const codesOfStates = new Set([
  ...['plan_archived', 'plan_in_use', 'subscription_canceled', 'has_active_subscriptions', 'invalid_state'],
  ...['invalid_upgrade', 'invalid_downgrade'],
  ...['invoice_finalized', 'invoice_incomplete', 'invoice_paid', 'invoice_voided'],
  ...['coupon_expired', 'coupon_not_started', 'coupon_exhausted', 'coupon_invalid'],
]);

const refusesState = (envelope: object): boolean =>
  codesOfStates.has(((envelope as { error?: { code?: string } }).error ?? {}).code ?? '');

/** A worker that waits for jobs would wait for as long as it asked. */
const hasty = (text: string): string => text.replace(/"wait":"[^"]*[1-9][^"]*"/, '"wait":"10ms"');

/** Adds the page's own hidden values to the form. */
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
