import { compilePolicy, isChosen } from './policies.ts';
import type { Choice, CompiledPolicy } from './policies.ts';
import type { PolicyRule } from './types.ts';

/** A policy whose actions match and whose resources touch the type of an index. */
export interface IndexedPolicy {
  readonly policy: CompiledPolicy;
  /** The resource id has to match one of these. Null means every resource of the type, and the type itself. */
  readonly ids: readonly Choice[] | null;
}

/** The active policies of one effect for one type and action, in order of (priority, id). */
export interface PolicyList {
  readonly policies: readonly IndexedPolicy[];
  /** Positions of the policies with any other form of subject than a literal id. */
  readonly rest: readonly number[];
  /** Positions of the policies that name subjects literally. */
  readonly positions: ReadonlyMap<CompiledPolicy, number>;
  /** The policies that name each literal id, for all policies. */
  readonly named: Named;
}

export interface PolicyIndex {
  readonly deny: PolicyList;
  readonly allow: PolicyList;
}

/** Literal ids of subjects, and the policies that name them. */
type Named = ReadonlyMap<string, ReadonlySet<CompiledPolicy>>;

export class Policies {
  readonly #byId = new Map<string, CompiledPolicy>();
  readonly #named = new Map<string, Set<CompiledPolicy>>();
  /** Active policies in order, rebuilt after a change. */
  #ordered: readonly CompiledPolicy[] | undefined;

  put(rule: PolicyRule): void {
    this.delete(rule.id);
    const policy = compilePolicy(rule);
    this.#byId.set(rule.id, policy);
    for (const id of policy.ids.keys()) {
      const policies = this.#named.get(id);
      if (policies === undefined) this.#named.set(id, new Set([policy]));
      else policies.add(policy);
    }
  }

  delete(id: string): void {
    this.#ordered = undefined;
    const policy = this.#byId.get(id);
    if (policy === undefined) return;
    this.#byId.delete(id);
    for (const named of policy.ids.keys()) {
      const policies = this.#named.get(named);
      policies?.delete(policy);
      if (policies?.size === 0) this.#named.delete(named);
    }
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Returns the active policies by (priority, id). */
  active(): readonly CompiledPolicy[] {
    this.#ordered ??= [...this.#byId.values()].filter(({ rule }) => rule.is_active).sort(byPriority);
    return this.#ordered;
  }

  index(type: string, action: string): PolicyIndex {
    const deny: IndexedPolicy[] = [];
    const allow: IndexedPolicy[] = [];
    for (const policy of this.active()) {
      if (!isChosen(policy.actions, action)) continue;
      const ids = idsOf(policy, type);
      if (ids?.length !== 0) (policy.rule.effect === 'deny' ? deny : allow).push({ policy, ids });
    }
    return { deny: listOf(deny, this.#named), allow: listOf(allow, this.#named) };
  }
}

/** Returns the positions, in order, of the policies of a list that may match a subject. */
export function candidatesFor(list: PolicyList, kind: string, id: string): readonly number[] {
  const naming = list.named.get(id);
  if (naming === undefined || list.policies.length === list.rest.length) return list.rest;
  const positions = new Set(list.rest);
  for (const policy of naming) {
    const position = list.positions.get(policy);
    const kinds = policy.ids.get(id);
    if (position !== undefined && (kinds?.has(kind) || kinds?.has(''))) positions.add(position);
  }
  return [...positions].sort((a, b) => a - b);
}

/** Whether a policy covers a resource. For a type-level question, only a policy that covers the whole type does. */
export function coversResource({ ids }: IndexedPolicy, id: string): boolean {
  if (ids === null) return true;
  return ids.some((choice) => (id === '' ? choice.all : isChosen(choice, id)));
}

/** Returns null when an entry covers the type without naming ids, and an empty array when the policy does not touch the type. */
function idsOf({ resources }: CompiledPolicy, type: string): readonly Choice[] | null {
  const choices: Choice[] = [];
  for (const resource of resources) {
    if (!resource.type(type)) continue;
    if (resource.ids === null) return null;
    choices.push(resource.ids);
  }
  return choices;
}

function listOf(policies: readonly IndexedPolicy[], named: Named): PolicyList {
  const rest: number[] = [];
  const positions = new Map<CompiledPolicy, number>();
  policies.forEach(({ policy }, position) => {
    if (policy.isOpen) rest.push(position);
    if (policy.ids.size > 0) positions.set(policy, position);
  });
  return { policies, rest, positions, named };
}

const byPriority = (a: CompiledPolicy, b: CompiledPolicy) =>
  a.rule.priority - b.rule.priority || (a.rule.id < b.rule.id ? -1 : 1);
