import type { SigningAlgorithm, SigningKey } from '../../../../../generated/auth/types.ts';

/** A key and the time since it entered each state, in milliseconds. */
export interface AgedKey extends Pick<SigningKey, 'kid' | 'alg' | 'state'> {
  readonly published_ms: number;
  readonly active_ms: number | null;
  readonly retired_ms: number | null;
}

/** The due changes to the keys of one algorithm. */
export interface KeyPlan {
  readonly alg: SigningAlgorithm;
  readonly retire: string | undefined;
  readonly activate: string | undefined;
  /** The states of the keys to be created. */
  readonly make: readonly ('active' | 'next')[];
  readonly remove: readonly string[];
}

export const algorithms = ['ES256', 'RS256'] as const satisfies readonly SigningAlgorithm[];

const day = 86_400_000;

/** Anyone who caches the key set for a while knows a key before it signs. */
const publishedMs = day;

const activeMs = 90 * day;

/** Retired keys are kept longer than anything that they signed is valid. */
const retiredMs = 7 * day;

/** Keeps the key set small for its readers, however often keys are rotated. No key is removed early for that. */
const mostRetired = 8;

/** Plans for all algorithms that have something due. `forced` rotates the keys regardless of age. */
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

/**
 * Milliseconds until the keys can be rotated regardless of age; 0 if they can be now. Recently retired keys still verify tokens,
 * and there is no room for more of them.
 */
export function untilRoom(keys: readonly AgedKey[]): number {
  const waits = algorithms.map((alg) => {
    const [oldest = retiredMs, ...others] = keys
      .filter((key) => key.alg === alg && key.state === 'retired')
      .map(({ retired_ms }) => retired_ms ?? 0)
      .filter((age) => age < retiredMs)
      .toSorted((a, b) => b - a);
    return others.length + 1 < mostRetired ? 0 : retiredMs - oldest;
  });
  return Math.max(...waits);
}

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
    remove: outdated(keys),
  };
}

const isDue = (active: AgedKey, next: AgedKey | undefined) =>
  (active.active_ms ?? 0) >= activeMs && next !== undefined && next.published_ms >= publishedMs;

const outdated = (keys: readonly AgedKey[]): string[] =>
  keys
    .filter(({ state, retired_ms }) => state === 'retired' && (retired_ms ?? 0) >= retiredMs)
    .map(({ kid }) => kid);
