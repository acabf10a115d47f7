import { matches } from './pattern.ts';
import { compilePolicy } from './policies.ts';
import type { CompiledPolicy } from './policies.ts';
import type { PolicyRule } from './types.ts';

/** A policy whose actions match and whose resources touch the type of an index. */
export interface IndexedPolicy {
  readonly policy: CompiledPolicy;
  /** Patterns on the resource id, one of which must match; null: every resource of the type, and the type itself. */
  readonly ids: readonly string[] | null;
}

/** The active policies of one effect for one type and action, in order of (priority, id). */
export interface PolicyList {
  readonly policies: readonly IndexedPolicy[];
  /** Positions of policies that name a subject literally, by id and kind (`''`: any kind). */
  readonly exact: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;
  /** Positions of the policies with any other form of subject. */
  readonly rest: readonly number[];
}

export interface PolicyIndex {
  readonly deny: PolicyList;
  readonly allow: PolicyList;
}

export class Policies {
  readonly #byId = new Map<string, CompiledPolicy>();
  /** Active policies in order; made anew after a change. */
  #ordered: readonly CompiledPolicy[] | undefined;

  put(rule: PolicyRule): void {
    this.#byId.set(rule.id, compilePolicy(rule));
    this.#ordered = undefined;
  }

  delete(id: string): void {
    this.#byId.delete(id);
    this.#ordered = undefined;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The active policies by (priority, id). */
  active(): readonly CompiledPolicy[] {
    this.#ordered ??= [...this.#byId.values()].filter(({ rule }) => rule.is_active).sort(byPriority);
    return this.#ordered;
  }

  index(type: string, action: string): PolicyIndex {
    const deny: IndexedPolicy[] = [];
    const allow: IndexedPolicy[] = [];
    for (const policy of this.active()) {
      if (!policy.rule.actions.some((pattern) => matches(pattern, action))) continue;
      const ids = idPatterns(policy.rule.resources, type);
      if (ids?.length !== 0) (policy.rule.effect === 'deny' ? deny : allow).push({ policy, ids });
    }
    return { deny: listOf(deny), allow: listOf(allow) };
  }
}

/** Positions, in order, of the policies of a list that may match a subject. */
export function candidatesFor(list: PolicyList, kind: string, id: string): readonly number[] {
  if (list.exact.size === 0) return list.rest;
  const named = list.exact.get(id);
  if (named === undefined) return list.rest;
  const positions = [...list.rest, ...(named.get(kind) ?? []), ...(named.get('') ?? [])];
  return [...new Set(positions)].sort((a, b) => a - b);
}

/** Whether a policy touches a resource; on a type-level question only what covers the whole type does. */
export function coversResource({ ids }: IndexedPolicy, id: string): boolean {
  if (ids === null) return true;
  return id === '' ? ids.includes('*') : ids.some((pattern) => matches(pattern, id));
}

/** Null: one entry covers the type without a word about ids. Empty: the policy does not touch the type. */
function idPatterns(resources: readonly string[], type: string): readonly string[] | null {
  const ids: string[] = [];
  for (const resource of resources) {
    const colon = resource.indexOf(':');
    if (colon < 0) {
      if (matches(resource, type)) return null;
    } else if (matches(resource.slice(0, colon), type)) {
      ids.push(resource.slice(colon + 1));
    }
  }
  return ids;
}

function listOf(policies: readonly IndexedPolicy[]): PolicyList {
  const exact = new Map<string, Map<string, number[]>>();
  const rest: number[] = [];
  policies.forEach(({ policy }, position) => {
    for (const matcher of policy.literal) {
      if (matcher.form !== 'id') continue;
      const kinds = exact.get(matcher.id) ?? new Map<string, number[]>();
      const kind = matcher.kind ?? '';
      exact.set(matcher.id, kinds.set(kind, [...(kinds.get(kind) ?? []), position]));
    }
    const named = policy.literal.filter(({ form }) => form === 'id').length;
    if (named < policy.rule.subjects.length) rest.push(position);
  });
  return { policies, exact, rest };
}

const byPriority = (a: CompiledPolicy, b: CompiledPolicy) =>
  a.rule.priority - b.rule.priority || (a.rule.id < b.rule.id ? -1 : 1);
