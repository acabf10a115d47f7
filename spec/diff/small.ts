/** Small schemas and values, so that random pairs of schemas often differ by one of the values. For tests. */
import fc from 'fast-check';

export type Small = boolean | Readonly<Record<string, unknown>>;
type Clause = Readonly<Record<string, unknown>>;

const few = fc.integer({ min: 0, max: 3 });
const names = fc.subarray(['a', 'b', 'ab', 'c'], { minLength: 1, maxLength: 2 });
const words = fc.constantFrom('', 'a', 'b', 'ab', 'abc', 'bb');
const atoms = fc.oneof(words, fc.integer({ min: -1, max: 6 }), fc.constantFrom(null, true, false, 0.5, 2.5));

export const { value: valueOfAny } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 2 },
    atoms,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'ab', 'c', 'abc'), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
}));

const under = (keyword: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Clause> =>
  value.map((one) => ({ [keyword]: one }));

/** Generates one keyword, or a few that belong together. `inner` generates the schemas within them. */
const clauses = (inner: fc.Arbitrary<Small>): fc.Arbitrary<Clause> => {
  const byName = fc.dictionary(fc.constantFrom('a', 'b', 'ab'), inner, {
    minKeys: 1,
    maxKeys: 2,
    noNullPrototype: true,
  });
  const forms = fc.array(inner, { minLength: 1, maxLength: 2 });
  const types = ['string', 'integer', 'number', 'object', 'array', 'boolean', 'null'];
  return fc.oneof(
    { weight: 3, arbitrary: under('type', fc.constantFrom(...types)) },
    under('type', fc.subarray(types, { minLength: 2, maxLength: 3 })),
    under('enum', fc.uniqueArray(atoms, { minLength: 1, maxLength: 3 })),
    under('const', atoms),
    ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((keyword) => under(keyword, few)),
    under('multipleOf', fc.integer({ min: 1, max: 4 })),
    ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map((keyword) =>
      under(keyword, few),
    ),
    under('pattern', fc.constantFrom('^a', 'b$', '^[ab]+$', '.*')),
    under('uniqueItems', fc.boolean()),
    under('items', inner),
    under('prefixItems', forms),
    under('unevaluatedItems', inner),
    fc.record({ contains: inner, minContains: few, maxContains: few }, { requiredKeys: ['contains'] }),
    { weight: 3, arbitrary: under('properties', byName) },
    under('required', names),
    under(
      'patternProperties',
      fc.dictionary(fc.constantFrom('^a', 'b$'), inner, { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
    ),
    under('additionalProperties', inner),
    under('unevaluatedProperties', inner),
    under('propertyNames', inner),
    under(
      'dependentRequired',
      fc.dictionary(fc.constantFrom('a', 'b'), names, { minKeys: 1, maxKeys: 1, noNullPrototype: true }),
    ),
    under('dependentSchemas', byName),
    ...['allOf', 'anyOf', 'oneOf'].map((keyword) => under(keyword, forms)),
    under('not', inner),
    fc.record({ if: inner, then: inner, else: inner }, { requiredKeys: ['if'] }),
  );
};

const together = (list: readonly Clause[]): Clause => Object.assign({}, ...list) as Clause;

const leaf: fc.Arbitrary<Small> = fc.oneof(
  { weight: 1, arbitrary: fc.boolean() },
  {
    weight: 6,
    arbitrary: fc
      .array(
        fc.oneof(
          under('type', fc.constantFrom('string', 'integer', 'object', 'array')),
          under('const', atoms),
          under('maxLength', few),
          under('minimum', few),
          under('required', names),
          under(
            'properties',
            fc.dictionary(fc.constantFrom('a', 'b'), fc.boolean(), {
              minKeys: 1,
              maxKeys: 1,
              noNullPrototype: true,
            }),
          ),
        ),
        { minLength: 1, maxLength: 2 },
      )
      .map(together),
  },
);
const middle: fc.Arbitrary<Small> = fc.oneof(
  { weight: 3, arbitrary: leaf },
  { weight: 2, arbitrary: fc.array(clauses(leaf), { minLength: 1, maxLength: 2 }).map(together) },
);
const clause = clauses(middle);
const several = fc.array(clause, { minLength: 0, maxLength: 3 });

/** Generates schemas before and after: mostly equal except for one or two clauses, or with nothing in common. */
export const pairOfSchemas: fc.Arbitrary<readonly [Clause, Clause]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(several, fc.option(clause), fc.option(clause))
      .map(
        ([shared, one, other]) =>
          [together([...shared, one ?? {}]), together([...shared, other ?? {}])] as const,
      ),
  },
  { weight: 1, arbitrary: fc.tuple(several.map(together), several.map(together)) },
);
