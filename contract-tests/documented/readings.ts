/** What a reader of the documents understands and a script cannot: which service a letter is, and what their short forms mean. */
import { commerce } from './readings/commerce.ts';
import { identity } from './readings/identity.ts';
import { platform } from './readings/platform.ts';

export interface Reading {
  readonly service: string;
  readonly document: 'identity' | 'commerce' | 'platform';
  readonly letter: string;
  /** In front of the paths of the tables, behind the service's base URL. */
  readonly base: string;
  /** See `Vocabulary` of fields.ts. */
  readonly objects?: readonly string[];
  readonly members?: Readonly<Record<string, string>>;
  /** Other words for the resources, in lower case. */
  readonly synonyms?: Readonly<Record<string, string>>;
  /** Which resource an answer is that is only called `200`, `200 array` or `paginated`, by method and path. */
  readonly answers?: readonly (readonly [RegExp, string])[];
  /** Which operations are lists, where the tables do not say so and the text above them says what all lists take and answer. */
  readonly lists?: RegExp;
  /** Members that only the server sets, which "its fields" in a request does not mean. */
  readonly readOnly?: Readonly<Record<string, readonly string[]>>;
  /** Requests and answers that the document words in prose, by method and path, in the notation of its tables. */
  readonly requests?: Readonly<Record<string, string>>;
  readonly responses?: Readonly<Record<string, string>>;
}

const primitives = ['instinct', 'awareness', 'boundary', 'value', 'judgment', 'reflex', 'profile'];
/** The values that a placeholder in a path stands for. */
export const placeholders: Readonly<Record<string, readonly string[]>> = { '{primitive}': primitives };

export const readings: readonly Reading[] = [...identity, ...commerce, ...platform];
