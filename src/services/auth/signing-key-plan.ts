import type { SigningAlgorithm, SigningKey } from '../../../generated/auth/types.ts';

/** A key and how long it has been what it is, in milliseconds. */
export interface AgedKey extends Pick<SigningKey, 'kid' | 'alg' | 'state'> {
  readonly published_ms: number;
  readonly active_ms: number | null;
  readonly retired_ms: number | null;
}

/** What is to be done to the keys of one algorithm now. */
export interface KeyPlan {
  readonly alg: SigningAlgorithm;
  readonly retire: string | undefined;
  readonly activate: string | undefined;
  /** What the keys are that have to be made. */
  readonly make: readonly ('active' | 'next')[];
  readonly remove: readonly string[];
}

export const algorithms = ['ES256', 'RS256'] as const satisfies readonly SigningAlgorithm[];

const day = 86_400_000;

/** Who keeps the key set for a while knows a key before it signs. */
const publishedMs = day;

const activeMs = 90 * day;

/** Longer than anything that a key signed is good for. */
const retiredMs = 7 * day;

/** The key set stays small enough for its readers, however often somebody rotates. */
const mostRetired = 8;

/** Plans with something to do, of all algorithms. `forced` turns the keys whatever their age. */
export const plansOf = (keys: readonly AgedKey[], forced: boolean): KeyPlan[] =>
  algorithms
    .map((alg) =>
      planOf(
        alg,
        keys.filter((key) => key.alg === alg),
        forced,
      ),
    )
    .filter(({ activate, make, remove }) => activate !== undefined || make.length + remove.length > 0);

function planOf(alg: SigningAlgorithm, keys: readonly AgedKey[], forced: boolean): KeyPlan {
  const active = keys.find(({ state }) => state === 'active');
  const next = keys.find(({ state }) => state === 'next');
  const turns = !active || forced || isDue(active, next);
  const retire = turns ? active?.kid : undefined;
  const missing = turns && !next ? (['active', 'next'] as const) : (['next'] as const);
  return {
    alg,
    retire,
    activate: turns ? next?.kid : undefined,
    make: turns || !next ? missing : [],
    remove: outdated(keys, retire === undefined ? mostRetired : mostRetired - 1),
  };
}

const isDue = (active: AgedKey, next: AgedKey | undefined) =>
  (active.active_ms ?? 0) >= activeMs && next !== undefined && next.published_ms >= publishedMs;

function outdated(keys: readonly AgedKey[], most: number): string[] {
  const age = ({ retired_ms }: AgedKey) => retired_ms ?? 0;
  return keys
    .filter(({ state }) => state === 'retired')
    .toSorted((a, b) => age(a) - age(b))
    .filter((key, at) => at >= most || age(key) >= retiredMs)
    .map(({ kid }) => kid);
}
