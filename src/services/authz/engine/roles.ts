import { Invalid } from '../../../lib/errors.ts';
import { matches } from './pattern.ts';
import type { Strings } from './strings.ts';
import type { PermissionRule, Role, RolePermission, RoleRule } from './types.ts';

/** Roles in a chain of inheritance, the role itself included. */
export const MAX_CHAIN = 16;

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
  /** Permission id → ids of the roles that hold it, and the other way round. */
  readonly #holders = new Map<string, Set<string>>();
  readonly #held = new Map<string, Set<string>>();
  /** Permissions without `*` by resource and action; the others are tried one by one. */
  readonly #exact = new Map<string, Map<string, Set<PermissionRule>>>();
  readonly #patterned = new Set<PermissionRule>();
  /** Role number → the role and its ancestors; made when first asked for. */
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

  /** Roles that every user holds, by id. */
  defaults(): readonly RoleEntry[] {
    this.#defaults ??= [...this.#roles.values()].filter(({ rule }) => rule.is_default).sort(byId);
    return this.#defaults;
  }

  /** The role and its ancestors, nearest first. A chain that is broken or circular ends where it stops making sense. */
  chain(entry: RoleEntry): readonly RoleEntry[] {
    const known = this.#chains.get(entry.number);
    if (known !== undefined) return known;
    const chain = [entry];
    for (let parent = entry.rule.parent_id; parent !== null && chain.length < MAX_CHAIN;) {
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

  /** How many permissions a role holds itself. */
  permissionCount(id: string): number {
    return this.#held.get(id)?.size ?? 0;
  }

  /** Role number → the permission by which the role itself grants the action on the type, the lowest id of several. */
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
 * Judges a new parent on write, given every role of the tenant as it is: throws `parent_id: cycle` or
 * `parent_id: chain longer than 16`. The roles that inherit from the changed one count too.
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
  if (above + 1 + below > MAX_CHAIN) throw Invalid(`parent_id: chain longer than ${MAX_CHAIN}`);
}

/** Steps from a role up to an ancestor; 0 when it is none of its descendants. */
function distance(parents: ReadonlyMap<string, string | null>, from: string, to: string): number {
  let at: string | null = from;
  for (let steps = 0; at !== null && steps <= MAX_CHAIN; steps++) {
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
