import { formatDuration, parseDuration } from './durations.ts';

/** One named value of the environment: how it is parsed, its default, and its bounds in words. */
export interface Setting<Value> {
  readonly name: string;
  /** The default as it would be written in the environment; the documentation prints it, too. */
  readonly default: string;
  /** The rule in words, for the error that refuses a value: `must be …`. */
  readonly rule: string;
  /** Returns undefined when the text breaks the rule. */
  parse(text: string): Value | undefined;
}

export type SettingsTable = Record<string, Setting<unknown>>;
export type SettingsOf<Table extends SettingsTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

/** A value of the environment with which the server cannot start. The message is a sentence that names it. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** A whole number within bounds. */
export function integer(
  name: string,
  fallback: number,
  { min, max }: { min: number; max: number },
): Setting<number> {
  return {
    name,
    default: String(fallback),
    rule: `a whole number from ${min} to ${max}`,
    parse: (text) => (/^-?\d{1,15}$/.test(text) ? within(Number(text), min, max) : undefined),
  };
}

/**
 * A Go-style duration within bounds, read as milliseconds.
 * @param bounds with `orNever`, zero is allowed as well and means never
 */
export function duration(
  name: string,
  fallback: string,
  bounds: { min: string; max: string; orNever?: true },
): Setting<number> {
  const min = parseDuration(bounds.min);
  const max = parseDuration(bounds.max);
  const never = bounds.orNever ? '0s, or ' : '';
  return {
    name,
    default: fallback,
    rule: `${never}a duration from ${formatDuration(min)} to ${formatDuration(max)}`,
    parse(text) {
      try {
        const ms = parseDuration(text);
        return bounds.orNever && ms === 0 ? ms : within(ms, min, max);
      } catch {
        return undefined;
      }
    },
  };
}

/** A text of this form. `rule` describes the form in words. */
export const text = (name: string, fallback: string, rule: string, form: RegExp): Setting<string> => ({
  name,
  default: fallback,
  rule,
  parse: (value) => (form.test(value) ? value : undefined),
});

/** One of the given words. */
export function choice<const Word extends string>(
  name: string,
  fallback: Word,
  words: readonly Word[],
): Setting<Word> {
  return {
    name,
    default: fallback,
    rule: words.length === 1 ? `"${words[0]}"` : `one of ${words.join(', ')}`,
    parse: (text) => words.find((word) => word === text),
  };
}

/** Reads every setting of the table from the environment. Throws a `SettingError` for the first value that breaks its rule. */
export function readSettings<Table extends SettingsTable>(
  table: Table,
  environment: Readonly<Record<string, string | undefined>>,
): SettingsOf<Table> {
  const values = Object.entries(table).map(([key, setting]) => [key, readSetting(setting, environment)]);
  return Object.freeze(Object.fromEntries(values)) as SettingsOf<Table>;
}

/** Reads one setting; an empty value counts as unset. */
export function readSetting<Value>(
  setting: Setting<Value>,
  environment: Readonly<Record<string, string | undefined>>,
): Value {
  const value = setting.parse(environment[setting.name] || setting.default);
  if (value === undefined) throw new SettingError(`${setting.name} must be ${setting.rule}`);
  return value;
}

function within(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}
