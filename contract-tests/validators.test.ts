/**
 * The two judges of requests, the generated validators and express-openapi-validator on the document, asked about the same
 * generated inputs: they accept the same ones.
 *
 *     FUZZ_RUNS=500 FUZZ_SEED=42 npx vitest run contract-tests/validators.test.ts
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
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
import { documentOf, nameOf, parametersOf, type Document, type Schema } from './contract.ts';
import { bodySchema, formMembers, pathOf, takesForm, textOf } from './requests.ts';

const seed = Number(process.env['FUZZ_SEED'] || Date.now() % 2 ** 31);
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
    server = documentServer(service).listen(0, '127.0.0.1');
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
        expect(byGenerated, byDocument).toBe(byDocument === '');
      }),
      { seed, numRuns, endOnFailure: true },
    ),
  );

  /** What the document says against the request; nothing when it is allowed. */
  async function judgedByDocument(operation: Operation, { path, query, body }: Input): Promise<string> {
    const search = Object.entries(query)
      .map(([name, value]) => `${name}=${escaped(value)}`)
      .join('&');
    const response = await fetch(`${url}${segmentsOf(operation, path)}${search === '' ? '' : `?${search}`}`, {
      method: operation.verb,
      ...sent(operation, body),
    });
    await response.arrayBuffer();
    return decodeURIComponent(response.headers.get(verdict) ?? '');
  }
});

/** Where the document's judge says what is wrong: the answer to a HEAD has no other place. */
const verdict = 'x-verdict';

/** An application that says nothing to allowed requests, and to others what is wrong. */
function documentServer(service: ServiceName) {
  const said: ErrorRequestHandler = (error: Error, _req, res, _next) =>
    void res
      .status(400)
      .setHeader(verdict, encodeURIComponent(error.message.toWellFormed().slice(0, 500)))
      .end();
  return express()
    .use(express.json({ strict: false, limit: '8mb' }))
    .use(express.urlencoded({ extended: false, limit: '8mb' }))
    .use(express.raw())
    .use(
      middleware({
        // Without its servers, since the paths that are asked about are relative to the service.
        apiSpec: { ...withoutAnswers(documentOf(service)), servers: [] } as never,
        validateRequests: true,
        validateResponses: false,
        validateSecurity: false,
        fileUploader: false,
        ajvFormats: { mode: 'full' },
      }),
    )
    .use((_req, res) => void res.status(200).end())
    .use(said);
}

/** Answers are not judged here, and their schemas would be walked through for every operation. */
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

/** A body on the wire. The members of a form are texts already. */
function sent(operation: Operation, body: unknown): Pick<RequestInit, 'headers' | 'body'> {
  if (takesBytes(operation))
    return { headers: { 'content-type': 'application/octet-stream' }, body: 'some bytes' };
  if (body === undefined) return {};
  return takesForm(operation)
    ? { body: new URLSearchParams(body as Record<string, string>) }
    : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

const takesBytes = ({ body }: Operation): boolean => body?.contentTypes.includes('*/*') ?? false;

/** A greedy parameter in one segment, since the document does not know that it may have several. */
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

/** The server puts a default in the place of a `null` that gives it back before it asks its validators. */
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
  readonly query: Record<string, string>;
  readonly body: unknown;
}

function inputs(operation: Operation): fc.Arbitrary<Input> {
  const texts = (place: 'path' | 'query') => {
    const own = parametersOf(operation).filter((parameter) => parameter.in === place);
    const values = own.map(({ name, schema }) => [name, parameterText(operation, schema)] as const);
    return fc.record(Object.fromEntries(values), {
      requiredKeys: place === 'path' ? own.map(({ name }) => name) : [],
    });
  };
  return fc.record({ path: texts('path'), query: texts('query'), body: bodies(operation) });
}

function bodies(operation: Operation): fc.Arbitrary<unknown> {
  const schema = bodySchema(operation);
  if (!schema) return fc.constant(undefined);
  const values = fc.oneof(valid(operation.service, schema), broken(operation.service, schema));
  return takesForm(operation) ? values.map(formMembers) : values;
}

/** Empty texts, dots and texts that are no UTF-8 are judged before the validators. */
const parameterText = ({ service }: Operation, schema: Schema): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 4, arbitrary: valid(service, schema) },
      { weight: 1, arbitrary: fc.constantFrom(...hostile) },
    )
    .map((value) => textOf(value).slice(0, 2_000))
    .filter((text) => !/^\.{0,2}$/.test(text));

/** The document's judge takes what encodeURIComponent leaves for reserved. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`);
