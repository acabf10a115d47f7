/** Valid and invalid requests, generated from the contract's schemas. */
import fc from 'fast-check';
import type { Operation } from '../generated/operations.ts';
import { broken, hostile, valid } from './arbitraries.ts';
import { parametersOf, resolve, type Schema } from './contract.ts';
import { bodySchema, formMembers, takesForm } from './requests.ts';

/** An empty or dot segment would make another path. */
const isSegment = (text: string) => !/^\.{0,2}$/.test(text);

/** A request before existing ids are filled in. */
export interface Generated {
  readonly parameters: Record<string, string>;
  /** Including its question mark. */
  readonly query: string;
  readonly headers: Record<string, string>;
  /** Sent unchanged. */
  readonly body: string | undefined;
  /** Whether to send it like a form of a page that the browser was shown, if the operation is a page. */
  readonly shown: boolean;
}

/** Generates requests of the operation: valid ones, and ones with a single error. */
export function requests(operation: Operation): fc.Arbitrary<Generated> {
  const own = (place: 'path' | 'query') =>
    parametersOf(operation).filter((parameter) => parameter.in === place);
  const path = own('path').map(
    ({ name, schema }) => [name, parameterText(operation, schema).filter(isSegment)] as const,
  );
  const query = own('query').map(({ name, schema }) => [name, parameterTexts(operation, schema)] as const);
  return fc.record({
    parameters: fc.record(Object.fromEntries(path)),
    query: fc
      .tuple(
        fc.record(Object.fromEntries(query), { requiredKeys: [] as string[] }),
        fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: oddQuery }),
      )
      .map(([known, odd]) => queryText(known, odd)),
    headers: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: oddHeaders }),
    body: bodies(operation),
    shown: fc.boolean(),
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

/** Generates a parameter's value as text: mostly one that its schema allows. */
const parameterText = ({ service }: Operation, schema: Schema): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 8, arbitrary: valid(service, schema) },
      { weight: 1, arbitrary: fc.constantFrom(...hostile) },
    )
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 4_000));

/** Generates the values of a parameter: several for an array, which is sent as the same parameter several times. */
function parameterTexts(operation: Operation, schema: Schema): fc.Arbitrary<string[]> {
  const { type, items } = resolve(operation.service, schema);
  return type === 'array'
    ? fc.array(parameterText(operation, items as Schema), { minLength: 1, maxLength: 3 })
    : parameterText(operation, schema).map((text) => [text]);
}

function queryText(known: Record<string, string[]>, odd: string): string {
  const pairs = Object.entries(known).flatMap(([name, values]) =>
    values.map((value) => `${name}=${encoded(value)}`),
  );
  const text = [...pairs, odd].filter(Boolean).join('&');
  return text === '' ? '' : `?${text}`;
}

/** A lone surrogate cannot occur in a URL. A browser would send U+FFFD instead. */
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
