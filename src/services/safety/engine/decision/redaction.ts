import type { Redaction } from '../../../../../generated/safety/types.ts';
import { ordered } from '../../../../lib/ordered.ts';
import type { Steps } from '../build.ts';
import type { Draft } from '../draft.ts';
import type { Pace } from '../pace.ts';
import type { ScanInput, Vaulted } from '../types.ts';

/** A part of the text and what stands in its place. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** A part of the text that must not pass, and the finding by which it is known. */
interface Hidden {
  readonly start: number;
  readonly end: number;
  readonly draft: Draft;
}

const longestLabel = 32;
/** Parts of at most this many letters and digits are masked as a whole. */
const shortest = 6;
const usualKept = 4;
const placeholder = /\[[A-Z0-9_]{1,32}_[1-9][0-9]{0,6}\]/g;
/** The characters that are masked in a step. */
const charactersPerStep = 2_048;

/** Replaces what must not pass. */
export class Redactor {
  readonly vaulted: Vaulted[] = [];
  readonly #input: ScanInput;
  readonly #numbers = new Map<string, Map<string, number>>();
  readonly #last = new Map<string, number>();
  readonly #stored = new Set<string>();
  readonly #written = new Map<string, ReadonlySet<string>>();

  constructor(input: ScanInput) {
    this.#input = input;
  }

  /**
   * The replacements of a text, in its order; undefined as soon as the text would be longer than `longest`, because making the names of
   * many parts takes long.
   */
  async replacements(
    drafts: readonly Draft[],
    longest: number,
    pace: Pace,
  ): Promise<Replacement[] | undefined> {
    const replacements: Replacement[] = [];
    const hidden = await hiddenParts(drafts, pace);
    let length = hidden.reduce((rest, { start, end }) => rest - (end - start), this.#input.text.length);
    for (const [index, { start, end, draft }] of hidden.entries()) {
      if (index % 64 === 63) await pace.restIfDue();
      const raw = this.#input.text.slice(start, end);
      const [from, to] = draft.span!;
      const normalised =
        draft.normalised !== undefined && from === start && to === end
          ? draft.normalised
          : raw.normalize('NFC');
      const by =
        draft.redaction?.method === 'mask'
          ? await pace.inSlices(maskedText(raw, draft.redaction.config))
          : this.#replace(draft, raw, normalised);
      length += by.length;
      if (length > longest) return undefined;
      replacements.push({ start, end, by });
    }
    return replacements;
  }

  #replace({ type, redaction }: Draft, raw: string, normalised: string): string {
    const label = labelOf(type);
    switch (redaction?.method) {
      case 'hash':
        return `[${label}:${this.#input.hash(label.toLowerCase(), normalised)}]`;
      case 'remove':
        return '';
      case 'vault':
        return this.#vault(label, raw);
      default:
        return `[${label}_${this.#numberOf(label, normalised)}]`;
    }
  }

  #numberOf(label: string, normalised: string): number {
    let numbers = this.#numbers.get(label);
    if (numbers === undefined) this.#numbers.set(label, (numbers = new Map<string, number>()));
    let number = numbers.get(normalised);
    if (number !== undefined) return number;
    // What the text itself writes, such as an answer about a redacted text, already stands for another value.
    number = (this.#last.get(label) ?? 0) + 1;
    while (this.#isWritten(label, number)) number++;
    this.#last.set(label, number);
    numbers.set(normalised, number);
    return number;
  }

  /** Whether a placeholder stands in the text already; most texts have none of its label. */
  #isWritten(label: string, number: number): boolean {
    const { text } = this.#input;
    let written = this.#written.get(label);
    if (written === undefined) {
      written = new Set(text.includes(`[${label}_`) ? text.match(placeholder) : []);
      this.#written.set(label, written);
    }
    return written.has(`[${label}_${number}]`);
  }

  #vault(label: string, raw: string): string {
    const name = label.toLowerCase();
    const token = this.#input.vault.tokenOf(name, label, raw);
    const key = `${label}_${token}`;
    if (!this.#stored.has(key)) {
      this.#stored.add(key);
      this.vaulted.push({ label, token, name, raw });
    }
    return `[${key}]`;
  }
}

/** The parts to replace: findings that overlap are one part, known by the one with the highest score. */
async function hiddenParts(drafts: readonly Draft[], pace: Pace): Promise<Hidden[]> {
  const hidden = await ordered(
    drafts.filter(({ action, span }) => action === 'redact' && span !== undefined && span[1] > span[0]),
    (a, b) => a.span![0] - b.span![0] || b.span![1] - a.span![1],
    () => pace.restIfDue(),
  );
  const parts: Hidden[] = [];
  for (const [index, draft] of hidden.entries()) {
    if (index % 1_024 === 1_023) await pace.restIfDue();
    const [start, end] = draft.span!;
    const last = parts.at(-1);
    if (last === undefined || start >= last.end) parts.push({ start, end, draft });
    else
      parts[parts.length - 1] = {
        start: last.start,
        end: Math.max(last.end, end),
        draft: draft.score > last.draft.score ? draft : last.draft,
      };
  }
  return parts;
}

/** The label of a type: its name without the focus. */
export const labelOf = (type: string): string =>
  type
    .slice(type.indexOf('.') + 1)
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '_')
    .slice(0, longestLabel);

/** Replaces letters and digits except some at both ends; separators stay. Findings that overlap can be as long as the text. */
function* maskedText(
  raw: string,
  { char = '*', keep_first = 0, keep_last = usualKept }: Redaction['config'],
): Steps<string> {
  let counted = 0;
  let at = 0;
  for (const character of raw) {
    if (isLetterOrDigit(character)) counted++;
    if (++at % charactersPerStep === 0) yield;
  }
  const [first, last] = counted <= shortest ? [0, 0] : [keep_first, keep_last];
  let masked = '';
  let seen = 0;
  for (const character of raw) {
    if (!isLetterOrDigit(character)) masked += character;
    else {
      seen++;
      masked += seen <= first || seen > counted - last ? character : char;
    }
    if (++at % charactersPerStep === 0) yield;
  }
  return masked;
}

const isLetterOrDigit = (character: string) => /[\p{L}\p{N}\p{M}]/u.test(character);

/** A part of the text with its replacements; those that reach beyond it replace what lies inside. */
export async function withReplacements(
  text: string,
  replacements: readonly Replacement[],
  pace: Pace,
  [from, to]: readonly [from: number, to: number] = [0, text.length],
): Promise<string> {
  const parts: string[] = [];
  let pieces: string[] = [];
  let at = from;
  for (let index = firstEndingAfter(replacements, from); index < replacements.length; index++) {
    const { start, end, by } = replacements[index]!;
    if (start >= to) break;
    pieces.push(text.slice(at, Math.max(at, start)), by);
    at = Math.min(end, to);
    if (pieces.length < 2_048) continue;
    parts.push(pieces.join(''));
    pieces = [];
    await pace.restIfDue();
  }
  return `${parts.join('')}${pieces.join('')}${text.slice(at, to)}`;
}

/** The index of the first part that ends after a position; parts do not overlap. */
export function firstEndingAfter(parts: readonly { readonly end: number }[], position: number): number {
  let low = 0;
  let high = parts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (parts[middle]!.end <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
