import { Invalid } from '../../../lib/errors.ts';
import { matches } from './pattern.ts';
import type { Strings } from './strings.ts';
import type { PermissionRule, Role, RolePermission, RoleRule } from './types.ts';

/** Maximum number of roles in an inheritance chain, including the role itself. */
export const longestChain = 16;

/** A role of the model. Assignments refer to it by the number of its id. */
export interface RoleEntry {
  readonly number: number;
  readonly rule: RoleRule;
}

/** The roles, permissions and attachments of a tenant. */
export class Roles {
  readonly #strings: Strings;
  readonly #roles = new Map<number, RoleEntry>();
  readonly #bySlug = new Map<string, RoleEntry>();
  readonly #permissions = new Map<string, PermissionRule>();
  /** Permission id → ids of the roles that hold it, and the reverse. */
  readonly #holders = new Map<string, Set<string>>();
  readonly #held = new Map<string, Set<string>>();
  /** Permissions without `*` by resource and action. The others are tried one by one. */
  readonly #exact = new Map<string, Map<string, Set<PermissionRule>>>();
  readonly #patterned = new Set<PermissionRule>();
  /** Role number → the role and its ancestors. Computed on first use. */
  readonly #chains = new Map<number, readonly RoleEntry[]>();
  #defaults: readonly RoleEntry[] | undefined;

  constructor(strings: Strings) {
    this.#strings = strings;
  }

  put(rule: RoleRule): void {
    const number = this.#strings.hold(rule.id);
    const before = this.#roles.get(number);
    if (before !== undefined) {
      this.#strings.release(number);
      this.#bySlug.delete(before.rule.slug);
    }
    const entry: RoleEntry = { number, rule };
    this.#roles.set(number, entry);
    this.#bySlug.set(rule.slug, entry);
    this.#forgetChains();
  }

  delete(id: string): void {
    const entry = this.find(id);
    if (entry === undefined) return;
    this.#roles.delete(entry.number);
    this.#bySlug.delete(entry.rule.slug);
    for (const permission of this.#held.get(id) ?? []) this.#holders.get(permission)?.delete(id);
    this.#held.delete(id);
    this.#strings.release(entry.number);
    this.#forgetChains();
  }

  find(id: string): RoleEntry | undefined {
    return this.#roles.get(this.#strings.find(id));
  }

  byNumber(number: number): RoleEntry | undefined {
    return this.#roles.get(number);
  }

  bySlug(slug: string): RoleEntry | undefined {
    return this.#bySlug.get(slug);
  }

  all(): Iterable<RoleEntry> {
    return this.#roles.values();
  }

  get size(): number {
    return this.#roles.size + this.#permissions.size;
  }

  /** Returns the roles that every user holds, by id. */
  defaults(): readonly RoleEntry[] {
    this.#defaults ??= [...this.#roles.values()].filter(({ rule }) => rule.is_default).sort(byId);
    return this.#defaults;
  }

  /** Returns the role and its ancestors, nearest first. A broken or circular chain ends at the last valid role. */
  chain(entry: RoleEntry): readonly RoleEntry[] {
    const known = this.#chains.get(entry.number);
    if (known !== undefined) return known;
    const chain = [entry];
    for (let parent = entry.rule.parent_id; parent !== null && chain.length < longestChain;) {
      const next = this.find(parent);
      if (next === undefined || chain.includes(next)) break;
      chain.push(next);
      parent = next.rule.parent_id;
    }
    this.#chains.set(entry.number, chain);
    return chain;
  }

  putPermission(rule: PermissionRule): void {
    this.#unlist(rule.id);
    this.#permissions.set(rule.id, rule);
    if (rule.resource.includes('*') || rule.action.includes('*')) {
      this.#patterned.add(rule);
      return;
    }
    const actions = this.#exact.get(rule.resource) ?? new Map<string, Set<PermissionRule>>();
    this.#exact.set(rule.resource, actions);
    const rules = actions.get(rule.action) ?? new Set();
    actions.set(rule.action, rules.add(rule));
  }

  deletePermission(id: string): void {
    this.#unlist(id);
    for (const role of this.#holders.get(id) ?? []) this.#held.get(role)?.delete(id);
    this.#holders.delete(id);
  }

  attach({ role_id, permission_id }: RolePermission): void {
    setOf(this.#holders, permission_id).add(role_id);
    setOf(this.#held, role_id).add(permission_id);
  }

  detach({ role_id, permission_id }: RolePermission): void {
    this.#holders.get(permission_id)?.delete(role_id);
    this.#held.get(role_id)?.delete(permission_id);
  }

  /** Returns the number of permissions that a role holds itself. */
  permissionCount(id: string): number {
    return this.#held.get(id)?.size ?? 0;
  }

  /**
   * Role number → the permission by which the role itself grants the action on the type. Of several permissions, the one with
   * the lowest id.
   */
  directGrants(type: string, action: string): Map<number, string> {
    const permissions = [...(this.#exact.get(type)?.get(action) ?? [])];
    for (const rule of this.#patterned) {
      if (matches(rule.resource, type) && matches(rule.action, action)) permissions.push(rule);
    }
    permissions.sort((a, b) => (a.id < b.id ? -1 : 1));
    const direct = new Map<number, string>();
    for (const { id } of permissions) {
      for (const role of this.#holders.get(id) ?? []) {
        const number = this.#strings.find(role);
        if (this.#roles.has(number) && !direct.has(number)) direct.set(number, id);
      }
    }
    return direct;
  }

  #unlist(id: string): void {
    const rule = this.#permissions.get(id);
    if (rule === undefined) return;
    this.#permissions.delete(id);
    this.#patterned.delete(rule);
    const actions = this.#exact.get(rule.resource);
    const rules = actions?.get(rule.action);
    if (!rules?.delete(rule) || rules.size > 0) return;
    actions?.delete(rule.action);
    if (actions?.size === 0) this.#exact.delete(rule.resource);
  }

  #forgetChains(): void {
    this.#chains.clear();
    this.#defaults = undefined;
  }
}

/**
 * Checks a new parent on write against every role of the tenant. The roles that inherit from the changed one count too.
 * @throws Invalid('parent_id: cycle') or Invalid('parent_id: chain longer than 16')
 */
export function checkRoleParent(
  roles: Iterable<Pick<Role, 'id' | 'parent_id'>>,
  id: string,
  parentId: string | null,
): void {
  const parents = new Map<string, string | null>();
  for (const role of roles) parents.set(role.id, role.parent_id);
  parents.set(id, parentId);
  let above = 0;
  for (let at = parentId; at !== null; at = parents.get(at) ?? null) {
    if (at === id) throw Invalid('parent_id: cycle');
    if (++above > parents.size) break;
  }
  let below = 0;
  for (const role of parents.keys()) below = Math.max(below, distance(parents, role, id));
  if (above + 1 + below > longestChain) throw Invalid(`parent_id: chain longer than ${longestChain}`);
}

/** Returns the steps from a role up to an ancestor, or 0 when it does not descend from it. */
function distance(parents: ReadonlyMap<string, string | null>, from: string, to: string): number {
  let at: string | null = from;
  for (let steps = 0; at !== null && steps <= longestChain; steps++) {
    if (at === to) return steps;
    at = parents.get(at) ?? null;
  }
  return 0;
}

function setOf<Key, Value>(map: Map<Key, Set<Value>>, key: Key): Set<Value> {
  let set = map.get(key);
  if (set === undefined) map.set(key, (set = new Set<Value>()));
  return set;
}

const byId = (a: RoleEntry, b: RoleEntry) => (a.rule.id < b.rule.id ? -1 : 1);
