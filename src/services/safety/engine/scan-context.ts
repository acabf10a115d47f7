import type { ScanInput } from './types.ts';

/** The members of a scan's context that the engine itself reads. */
export interface ScanContext {
  readonly question: string | undefined;
  readonly sources: readonly string[] | undefined;
  readonly systemPrompt: string | undefined;
  readonly canaries: readonly string[];
  readonly actions: readonly string[];
  readonly region: string | undefined;
}

const longest = { question: 32_768, source: 65_536, systemPrompt: 65_536, canary: 256, action: 256 };
const mostSources = 200;
const mostCanaries = 32;
const mostActions = 256;
const shortestCanary = 8;

type Reader<Value> = (value: unknown) => Value | undefined;

const text =
  (most: number): Reader<string> =>
  (value) =>
    typeof value === 'string' ? value.slice(0, most) : undefined;

const texts =
  (mostTexts: number, read: Reader<string>): Reader<string[]> =>
  (value) => {
    if (!Array.isArray(value)) return undefined;
    const list = value.slice(0, mostTexts).map(read);
    return list.every((member) => member !== undefined) ? list : undefined;
  };

/** Sources that say nothing, as of a search without results, are none: a text cannot contradict them. */
const withWords = (sources: readonly string[] | undefined) =>
  sources?.some((source) => source.trim() !== '') ? sources : undefined;

const canary: Reader<string> = (value) =>
  typeof value === 'string' && value.length >= shortestCanary && value.length <= longest.canary
    ? value
    : undefined;

const oneOrMore = (value: unknown) => (typeof value === 'string' ? [value] : value);

const region: Reader<string> = (value) =>
  typeof value === 'string' && /^[A-Za-z]{2}$/.test(value) ? value.toUpperCase() : undefined;

/** Reads the context. Members of another type are left out and named in `skipped`. */
export function readContext({ context }: ScanInput, skipped: string[]): ScanContext {
  const read = <Value>(name: string, reader: Reader<Value>): Value | undefined => {
    const value = Object.hasOwn(context, name) ? context[name] : undefined;
    if (value === undefined || value === null) return undefined;
    const known = reader(value);
    if (known === undefined) skipped.push(`context.${name}: ignored because of its type`);
    return known;
  };
  return {
    question: read('question', text(longest.question)),
    sources: withWords(read('sources', texts(mostSources, text(longest.source)))),
    systemPrompt: read('system_prompt', text(longest.systemPrompt)),
    canaries: read('canaries', texts(mostCanaries, canary)) ?? [],
    actions: read('action', (value) => texts(mostActions, text(longest.action))(oneOrMore(value))) ?? [],
    region: read('region', region),
  };
}
