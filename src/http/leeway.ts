import type { Leeway } from './operation.ts';

/**
 * Takes out of a body what it may carry and does not mean: members that only the server sets, so that what was read can
 * be written back, and `null` where that is the same as absence. A `null` that gives a default back becomes the default.
 */
export function applyLeeway(leeway: Leeway, value: unknown): void {
  if (Array.isArray(value)) {
    if (leeway.items) for (const item of value) applyLeeway(leeway.items, item);
  } else if (typeof value === 'object' && value !== null) applyToMembers(leeway, value as Members);
}

type Members = Record<string, unknown>;

function applyToMembers({ ignored, restores, nullIsAbsent, members, values }: Leeway, value: Members): void {
  if (ignored) for (const name of ignored) delete value[name];
  if (restores) restoreDefaults(restores, value);
  if (nullIsAbsent) for (const name in value) if (value[name] === null) delete value[name];
  if (members) for (const name in members) applyLeeway(members[name]!, value[name]);
  if (values) for (const name in value) applyLeeway(values, value[name]);
}

/** Every request gets defaults of its own: a handler may change what it was given. */
function restoreDefaults(restores: NonNullable<Leeway['restores']>, value: Members): void {
  for (const name in restores) if (value[name] === null) value[name] = structuredClone(restores[name]);
}
