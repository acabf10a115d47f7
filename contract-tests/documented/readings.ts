/**
 * Knowledge about the documents that a reader has and a script does not: which service a letter stands for, and what
 * abbreviations mean.
 */
import { commerce } from './readings/commerce.ts';
import { identity } from './readings/identity.ts';
import { platform } from './readings/platform.ts';

export interface Reading {
  readonly service: string;
  readonly document: 'identity' | 'commerce' | 'platform';
  readonly letter: string;
  /** The prefix of the tables' paths, after the service's base URL. */
  readonly base: string;
  /** See `Vocabulary` in fields.ts. */
  readonly objects?: readonly string[];
  readonly members?: Readonly<Record<string, string>>;
  /** Other names of resources, in lower case. */
  readonly synonyms?: Readonly<Record<string, string>>;
  /** The resource of an answer that the table only calls `200`, `200 array` or `paginated`, by method and path. */
  readonly answers?: readonly (readonly [RegExp, string])[];
  /** The operations that are lists, if the tables do not say so and the text above them describes all lists. */
  readonly lists?: RegExp;
  /** Members that only the server sets. "Its fields" in a request does not include them. */
  readonly readOnly?: Readonly<Record<string, readonly string[]>>;
  /** Requests and answers that the document describes in prose, by method and path, in the notation of its tables. */
  readonly requests?: Readonly<Record<string, string>>;
  readonly responses?: Readonly<Record<string, string>>;
}

const primitives = ['instinct', 'awareness', 'boundary', 'value', 'judgment', 'reflex', 'profile'];
/** The values of a placeholder in a path. */
export const placeholders: Readonly<Record<string, readonly string[]>> = { '{primitive}': primitives };

export const readings: readonly Reading[] = [...identity, ...commerce, ...platform];
