/** Tests that the reference gives callers what they need: every document describes each operation, parameter and credential. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly description?: string;
}
interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly 'x-access'?: string;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description?: string }>>;
  };
}

const folder = new URL('../../tsp-output/openapi/', import.meta.url);
const documents = readdirSync(folder).map((name) => ({
  service: name.replace('.json', '').toLowerCase(),
  document: JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Document,
}));

const rights: Readonly<Record<string, string>> = {
  public: 'Needs no scope.',
  key: 'Needs an API key',
  user: 'Needs a signed-in user',
  any: 'Needs any valid credential',
};

describe.each(documents)('the reference of $service', ({ service, document }) => {
  const operations = Object.values(document.paths).flatMap((item) =>
    Object.entries(item).map(([verb, operation]) => ({ ...operation, verb })),
  );
  const failing = (holds: (operation: (typeof operations)[number]) => boolean) =>
    operations.filter((operation) => !holds(operation)).map(({ operationId }) => operationId);

  it('says what right each operation needs', () => {
    const right = ({
      verb,
      'x-access': access = /get|head/.test(verb) ? 'read' : 'write',
    }: (typeof operations)[number]) =>
      access === 'operator'
        ? `\`${service}:admin\` in the operator's tenant`
        : (rights[access] ?? `Needs the scope \`${service}:${access}\`.`);
    expect(failing((operation) => operation.description?.includes(right(operation)) ?? false)).toEqual([]);
  });

  it('says nothing twice', () => {
    const begins = ({ summary = '', description = '' }: Operation) => description.startsWith(`${summary}.`);
    expect(failing((operation) => !begins(operation))).toEqual([]);
  });

  it('has words for every parameter', () => {
    const resolved = (one: Parameter) =>
      one.$ref === undefined ? one : document.components.parameters?.[one.$ref.split('/').at(-1) ?? ''];
    const silent = ({ parameters = [] }: Operation) => parameters.some((one) => !resolved(one)?.description);
    expect(failing((operation) => !silent(operation))).toEqual([]);
  });

  it('says what each credential is', () => {
    const schemes = Object.entries(document.components.securitySchemes);
    expect(schemes.filter(([, { description = '' }]) => description.length < 20)).toEqual([]);
  });
});
