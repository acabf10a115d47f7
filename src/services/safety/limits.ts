/** The most that an app may have of each kind, and of the contents of its rules together. Beyond it the service answers 409. */
export const mostOf = {
  instinct: 200,
  awareness: 200,
  boundary: 200,
  value: 200,
  judgment: 200,
  reflex: 200,
  profile: 100,
  policy: 200,
} as const;

export type RuleKind = keyof typeof mostOf;

export const mostContents = { keywords: 20_000, expressions: 500, instructions: 20_000 } as const;

/** What a rule takes of the limits of its app: keywords, regular expressions, and the instructions of their programs. */
export interface Weight {
  readonly keywords: number;
  readonly expressions: number;
  readonly instructions: number;
}

export const nothing: Weight = { keywords: 0, expressions: 0, instructions: 0 };

/** The words in which an error names a limit. */
export const limitNames: Readonly<Record<RuleKind | keyof Weight, string>> = {
  instinct: 'instincts',
  awareness: 'awarenesses',
  boundary: 'boundaries',
  value: 'values',
  judgment: 'judgments',
  reflex: 'reflexes',
  profile: 'profiles',
  policy: 'policies',
  keywords: 'keywords',
  expressions: 'regular expressions',
  instructions: 'instructions of regular expressions',
};
