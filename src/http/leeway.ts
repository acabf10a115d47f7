import { Invalid } from '../lib/errors.ts';
import type { Leeway } from './operation.ts';

/**
 * Judges a member that only the server sets before it is dropped. `place` is its path up to its name: `events[0].`; in a `refused`
 * value it has no place.
 */
export type JudgeDropped = (name: string, value: unknown, place: string, refused: boolean) => void;

/**
 * Removes members that a body may carry but that have no effect: members that only the server sets, so that a client can write
 * back what it read, and `null` where it means absence. A `null` that restores a default becomes the default. Members in a spelling that
 * the contract folds get their documented names.
 */
export function applyLeeway(leeway: Leeway, value: unknown, judge: JudgeDropped, place = ''): void {
  if (Array.isArray(value)) {
    const at = place.slice(0, -1);
    if (leeway.items)
      for (const [index, item] of value.entries()) applyLeeway(leeway.items, item, judge, `${at}[${index}].`);
  } else if (typeof value === 'object' && value !== null)
    applyToMembers(leeway, value as Members, judge, place);
}

type Members = Record<string, unknown>;

function applyToMembers(
  { folded, ignored, refused, restores, nullIsAbsent, members, values }: Leeway,
  value: Members,
  judge: JudgeDropped,
  place: string,
): void {
  if (folded) restoreSpelling(folded, value);
  if (ignored)
    for (const name of ignored) {
      if (!Object.hasOwn(value, name)) continue;
      if (!nullIsAbsent || value[name] !== null) judge(name, value[name], place, refused === true);
      delete value[name];
    }
  if (restores) restoreDefaults(restores, value);
  if (nullIsAbsent) for (const name in value) if (value[name] === null) delete value[name];
  if (members)
    for (const name in members) applyLeeway(members[name]!, value[name], judge, `${place}${name}.`);
  if (values) for (const name in value) applyLeeway(values, value[name], judge, `${place}${name}.`);
}

/** Gives members their documented names. Throws `Invalid` when two spellings of one name are given. */
function restoreSpelling(folded: Readonly<Record<string, string>>, value: Members): void {
  for (const given of Object.keys(value)) {
    const spelling = given.toLowerCase().replaceAll('_', '');
    const name = Object.hasOwn(folded, spelling) ? folded[spelling]! : given;
    if (name === given) continue;
    if (Object.hasOwn(value, name)) throw Invalid(`${name}: given more than once`);
    value[name] = value[given];
    delete value[given];
  }
}

/** Copies the defaults for every request, because a handler may change its request. */
function restoreDefaults(restores: NonNullable<Leeway['restores']>, value: Members): void {
  for (const name in restores) if (value[name] === null) value[name] = structuredClone(restores[name]);
}
