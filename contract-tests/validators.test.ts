/**
 * Compares the two validators of requests, the generated ones and express-openapi-validator on the document: for the same
 * generated inputs, both accept the same ones.
 *
 * The suite generates the same inputs every time; another seed and more runs look for what nobody has found yet:
 *
 *     FUZZ_RUNS=500 FUZZ_SEED=$RANDOM npx vitest run --project contract contract-tests/validators.test.ts
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  operations,
  services,
  type Leeway,
  type Operation,
  type ServiceName,
} from '../generated/operations.ts';
import { broken, hostile, valid } from './arbitraries.ts';
import { documentOf, nameOf, parametersOf, resolve, type Document, type Schema } from './contract.ts';
import { bodySchema, formMembers, pathOf, takesForm, textOf } from './requests.ts';

const seed = Number(process.env['FUZZ_SEED'] || 20261123);
const numRuns = Number(process.env['FUZZ_RUNS'] || 20);

console.log(`validators: FUZZ_SEED=${seed} FUZZ_RUNS=${numRuns}`);

type Validate = (data: unknown) => boolean;
type Validators = Readonly<Record<string, Readonly<Partial<Record<'path' | 'query' | 'body', Validate>>>>>;

describe.each(Object.keys(services) as ServiceName[])('the validators of %s', (service) => {
  let generated: Validators;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    generated = ((await import(`../generated/${service}/validators.js`)) as { validators: Validators })
      .validators;
    server = createServer({ maxHeaderSize: longestHead }, documentApp(service)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it.each(
    operations
      .filter((operation) => operation.service === service)
      .map((operation) => [nameOf(operation), operation] as const),
  )('accept the same requests as the document: %s', (_, operation) =>
    fc.assert(
      fc.asyncProperty(inputs(operation), async (input) => {
        const byDocument = await judgedByDocument(operation, input);
        const byGenerated = judgedByGenerated(generated[operation.id] ?? {}, restored(operation, input));
        expect(byGenerated, repeatable(operation, `the document says '${byDocument}'`)).toBe(
          byDocument === '',
        );
      }),
      { seed, numRuns, endOnFailure: true },
    ),
  );

  /** Returns how the request violates the document, or an empty text when it is allowed. */
  async function judgedByDocument(operation: Operation, { path, query, body }: Input): Promise<string> {
    const search = Object.entries(query)
      .flatMap(([name, values]) => [values].flat().map((value) => `${name}=${escaped(value)}`))
      .join('&');
    const response = await fetch(`${url}${segmentsOf(operation, path)}${search === '' ? '' : `?${search}`}`, {
      method: operation.verb,
      ...sent(operation, body),
    });
    await response.arrayBuffer();
    const said = response.headers.get(verdict);
    // A request that fails before it reaches the validator was not allowed by it.
    expect(response.status, repeatable(operation, 'no verdict')).toBe(said === null ? 200 : 400);
    return decodeURIComponent(said ?? '');
  }
});

/** Returns the text of a failure with everything needed to repeat it from that line of the log. */
const repeatable = (operation: Operation, text: string): string =>
  `FUZZ_SEED=${seed} FUZZ_RUNS=${numRuns} ${nameOf(operation)}: ${text}`;

/** The header with the validator's verdict: the answer to a HEAD request has no other place for it. */
const verdict = 'x-verdict';

/** In bytes. By default Node refuses more than 16 KiB, which the query of an authorization may exceed. */
const longestHead = 1024 * 1024;

/** Creates an application that answers allowed requests with nothing, and others with the violation. */
function documentApp(service: ServiceName) {
  const said: ErrorRequestHandler = (error: Error, _req, res, _next) =>
    void res
      .status(400)
      .setHeader(verdict, encodeURIComponent(error.message.slice(0, 500).toWellFormed()))
      .end();
  return (
    express()
      // The size of a request is checked before the validators.
      .use(express.json({ strict: false, limit: Infinity }))
      .use(express.urlencoded({ extended: false, limit: Infinity }))
      .use(express.raw())
      .use(
        middleware({
          // The document without its servers, since the tested paths are relative to the service.
          apiSpec: { ...withoutAnswers(documentOf(service)), servers: [] } as never,
          validateRequests: true,
          validateResponses: false,
          validateSecurity: false,
          fileUploader: false,
          ajvFormats: { mode: 'full' },
        }),
      )
      .use((_req, res) => void res.status(200).end())
      .use(said)
  );
}

/** Removes the answers, which are not checked here: their schemas would be walked for every operation. */
function withoutAnswers(document: Document): object {
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([verb, entry]) => [
        verb,
        { ...entry, responses: { 200: { description: '' } } },
      ]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) as unknown };
}

/** Returns a body in its wire form. The members of a form are already texts. */
function sent(operation: Operation, body: unknown): Pick<RequestInit, 'headers' | 'body'> {
  if (takesBytes(operation))
    return { headers: { 'content-type': 'application/octet-stream' }, body: 'some bytes' };
  if (body === undefined) return {};
  return takesForm(operation)
    ? { body: new URLSearchParams(body as Record<string, string>) }
    : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

const takesBytes = ({ body }: Operation): boolean => body?.contentTypes.includes('*/*') ?? false;

/** Puts a greedy parameter into one segment, since the document does not say that it may have several. */
const segmentsOf = (operation: Operation, path: Record<string, string>): string =>
  pathOf({ ...operation, path: operation.path.replaceAll('{+', '{') }, path);

function judgedByGenerated(validators: Validators[string], input: Input): boolean {
  const { path, query, body } = structuredClone(input);
  const parts = [
    validators.path?.(path),
    validators.query?.(query),
    body === undefined || validators.body?.(body),
  ];
  return parts.every((allowed) => allowed !== false);
}

/** Replaces a `null` that restores a default by that default, as the server does before it validates. */
const restored = ({ body }: Operation, input: Input): Input =>
  body?.leeway ? { ...input, body: withDefaults(body.leeway, input.body) } : input;

function withDefaults({ restores = {}, members = {} }: Leeway, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([name, member]: [string, unknown]) => {
    if (member === null && Object.hasOwn(restores, name)) return [name, restores[name]] as const;
    return [name, Object.hasOwn(members, name) ? withDefaults(members[name]!, member) : member] as const;
  });
  return Object.fromEntries(entries);
}

interface Input {
  readonly path: Record<string, string>;
  /** A parameter that may be repeated has all its values. */
  readonly query: Record<string, string | string[]>;
  readonly body: unknown;
}

function inputs(operation: Operation): fc.Arbitrary<Input> {
  const own = (place: 'path' | 'query') =>
    parametersOf(operation).filter((parameter) => parameter.in === place);
  const path = own('path').map(({ name, schema }) => [name, parameterText(operation, schema)] as const);
  const query = own('query').map(({ name, schema }) => [name, parameterValues(operation, schema)] as const);
  return fc.record({
    path: fc.record(Object.fromEntries(path)),
    query: fc.record(Object.fromEntries(query), { requiredKeys: [] as string[] }),
    body: bodies(operation),
  });
}

/** Generates the values of a parameter: several for an array, which is sent as the same parameter several times. */
function parameterValues(operation: Operation, schema: Schema): fc.Arbitrary<string | string[]> {
  const { type, items, maxItems } = resolve(operation.service, schema);
  if (type !== 'array') return parameterText(operation, schema);
  const most = typeof maxItems === 'number' ? maxItems + 1 : 3;
  return fc.array(parameterText(operation, items as Schema), { minLength: 1, maxLength: most });
}

function bodies(operation: Operation): fc.Arbitrary<unknown> {
  const schema = bodySchema(operation);
  if (!schema) return fc.constant(undefined);
  const values = fc.oneof(valid(operation.service, schema), broken(operation.service, schema));
  return takesForm(operation) ? values.map(formMembers) : values;
}

/** Generates a parameter's text. Empty texts, dots and texts that are not UTF-8 are rejected before the validators. */
const parameterText = ({ service }: Operation, schema: Schema): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 4, arbitrary: valid(service, schema) },
      { weight: 1, arbitrary: fc.constantFrom(...hostile) },
    )
    .map((value) => textOf(value).slice(0, 2_000))
    .filter((text) => !/^\.{0,2}$/.test(text));

/** Escapes what encodeURIComponent leaves unescaped but the document's validator treats as reserved. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
