import { Invalid } from '../../../lib/errors.ts';
import type { RuleKind } from '../limits.ts';
import { kinds, partsOfProfiles, type ProfilePart } from './kinds.ts';
import type { NamedRule } from './rules.store.ts';

/** What is of a rule's kind: its record without the members that all kinds share. */
export type Body = Readonly<Record<string, unknown>>;

/** A name in a rule that stands for another one. */
export interface Reference {
  readonly kind: RuleKind;
  readonly name: string;
  readonly field: string;
}

/** Members of a profile whose items are objects, and the member of the item that names the primitive. */
const nameMembers: Partial<Record<ProfilePart, string>> = {
  instincts: 'instinct_name',
  awareness: 'awareness_name',
  judgments: 'judgment_name',
};

const parts = Object.entries(partsOfProfiles) as [ProfilePart, RuleKind][];

/** Puts something else in place of each name by which a profile or policy refers to other rules. */
export function withReferences(kind: RuleKind, body: Body, replace: (given: Reference) => string): Body {
  if (kind === 'policy') {
    const { profile } = body;
    if (typeof profile !== 'string') return body;
    return { ...body, profile: replace({ kind: 'profile', name: profile, field: 'profile' }) };
  }
  if (kind !== 'profile') return body;
  const replaced = parts.map(([part, of]) => {
    const member = nameMembers[part];
    const items = body[part] as (string | Record<string, unknown>)[];
    return [
      part,
      items.map((item, index) => {
        const field = `${part}[${index}]`;
        if (typeof item === 'string') return replace({ kind: of, name: item, field });
        const name = item[member!] as string;
        return { ...item, [member!]: replace({ kind: of, name, field: `${field}.${member}` }) };
      }),
    ] as const;
  });
  return { ...body, ...Object.fromEntries(replaced) };
}

export function referencesIn(kind: RuleKind, body: Body): Reference[] {
  const found: Reference[] = [];
  withReferences(kind, body, (given) => {
    found.push(given);
    return given.name;
  });
  return found;
}

/** The ids of built-in rules by kind and name, and their names by id. */
const builtinIds = new Map(
  Object.values(kinds).flatMap(({ kind, builtin }) =>
    builtin.map(({ id, name }) => [`${kind} ${name}`, id] as const),
  ),
);
const builtinNames = new Map(
  Object.values(kinds).flatMap(({ builtin }) => builtin.map(({ id, name }) => [id, name] as const)),
);

/**
 * Puts ids in place of names, and returns them. The app's own rule goes before a built-in one of the same name.
 * @throws Invalid for a name that is not known, or is there twice
 */
export function withIds(
  kind: RuleKind,
  body: Body,
  known: readonly NamedRule[],
): { body: Body; refs: string[] } {
  const own = new Map(known.map((rule) => [`${rule.kind} ${rule.name}`, rule.id]));
  const refs = new Set<string>();
  const replaced = withReferences(kind, body, ({ kind: of, name, field }) => {
    const id = own.get(`${of} ${name}`) ?? builtinIds.get(`${of} ${name}`);
    if (id === undefined) throw Invalid(`${field}: no ${of} has this name`);
    if (refs.has(id)) throw Invalid(`${field}: named twice`);
    refs.add(id);
    return id;
  });
  return { body: replaced, refs: [...refs] };
}

/** Puts names in place of ids. */
export function withNames(kind: RuleKind, body: Body, known: readonly NamedRule[]): Body {
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return withReferences(kind, body, ({ name: id }) => names.get(id) ?? builtinNames.get(id) ?? id);
}
