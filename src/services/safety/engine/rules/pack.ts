/**
 * A file of built-in rules. A rule is a sequence of steps, each of which is one of some terms; it is found where its steps
 * follow one another with at most `gap` characters between them. A term that ends with `*` may be the beginning of a word;
 * all others are whole words. Rules of this form take time linear in the text, whatever they say.
 */
export interface Pack {
  readonly version: number;
  /** Terms that several rules share, by name. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  readonly rules?: readonly PackRule[];
  /** Terms each of which is a rule of its own. */
  readonly terms?: readonly PackTerms[];
}

interface PackRule {
  readonly id: string;
  /** What the rule is evidence of, such as `attack/injection` or `value/insult`. */
  readonly groups: readonly string[];
  readonly weight: number;
  /** Each step is some terms, or the names of lists as `@name`. */
  readonly steps: readonly (readonly string[])[];
  readonly gap?: number;
  /** Whether the rule is found only at the beginning of a line. */
  readonly line?: boolean;
  /** Parts of a place that is something else, such as a bath bomb. */
  readonly unless?: readonly string[];
}

interface PackTerms {
  readonly id: string;
  readonly groups: readonly string[];
  readonly weight: number;
  readonly terms: readonly string[];
}

/** A rule as the engine uses it. */
export interface Rule {
  readonly id: string;
  readonly groups: readonly string[];
  readonly weight: number;
  readonly steps: readonly (readonly string[])[];
  readonly gap: number;
  readonly line: boolean;
  readonly unless: readonly string[];
}

const usualGap = 32;

export function rulesOf({ lists = {}, rules = [], terms = [] }: Pack): Rule[] {
  const expand = (step: readonly string[]) =>
    step.flatMap((term) => {
      if (!term.startsWith('@')) return [term];
      const list = lists[term.slice(1)];
      if (list === undefined) throw new Error(`no list ${term}`);
      return list;
    });
  return [
    ...rules.map(({ steps, gap = usualGap, line = false, unless = [], ...rule }) => ({
      ...rule,
      steps: steps.map(expand),
      gap,
      line,
      unless,
    })),
    ...terms.flatMap(({ id, groups, weight, terms: list }) =>
      list.map((term) => ({
        id: `${id}/${term}`,
        groups,
        weight,
        steps: [[term]],
        gap: usualGap,
        line: false,
        unless: [],
      })),
    ),
  ];
}
