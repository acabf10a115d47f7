import { fold } from '../views/folding.ts';
import { textOf } from '../views/view.ts';
import type { Subject } from './subjects.ts';

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
  /** The most characters between the steps, or before each of those after the first. */
  readonly gap?: number | readonly number[];
  /** Whether the rule is found only at the beginning of a line. */
  readonly line?: boolean;
  /** Parts of a place, and of the words after it, that are something else, such as a bath bomb. */
  readonly unless?: readonly string[];
  /** Signs that the place itself has not. */
  readonly without?: readonly string[];
  /** Whether the rule ends with an object that has to belong to the assistant, such as its instructions. */
  readonly object?: boolean;
  /** Whether an assistant has to be named near. */
  readonly assistant?: boolean;
  /** What a text may be about in which the rule counts less. */
  readonly about?: readonly Subject[];
}

interface PackTerms {
  readonly id: string;
  readonly groups: readonly string[];
  readonly weight: number;
  readonly terms: readonly string[];
  readonly about?: readonly Subject[];
}

/** A rule as the engine uses it. */
export interface Rule {
  readonly id: string;
  readonly groups: readonly string[];
  readonly weight: number;
  readonly steps: readonly (readonly string[])[];
  /** The most characters before each step after the first. */
  readonly gaps: readonly number[];
  readonly line: boolean;
  readonly unless: readonly string[];
  readonly without: readonly string[];
  readonly object: boolean;
  readonly assistant: boolean;
  readonly about: readonly Subject[];
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
    ...rules.map(({ steps, gap = usualGap, ...rule }) => ({
      ...withDefaults(rule),
      steps: steps.map(expand),
      gaps: typeof gap === 'number' ? steps.slice(1).map(() => gap) : gap,
    })),
    ...terms.flatMap(({ id, terms: list, ...rule }) =>
      list.map((term) => ({ ...withDefaults(rule), id: `${id}/${term}`, steps: [[term]], gaps: [] })),
    ),
  ];
}

const withDefaults = <Given extends object>(
  rule: Given & Pick<PackRule, 'line' | 'unless' | 'without' | 'object' | 'assistant' | 'about'>,
) => ({
  ...rule,
  line: rule.line ?? false,
  unless: (rule.unless ?? []).map((part) => textOf(fold(part))),
  without: rule.without ?? [],
  object: rule.object ?? false,
  assistant: rule.assistant ?? false,
  about: rule.about ?? [],
});
