import { Facts } from './facts.ts';
import { Memo } from './memo.ts';
import { Policies } from './policy-index.ts';
import type { PolicyIndex } from './policy-index.ts';
import { Grants } from './rbac.ts';
import { Roles } from './roles.ts';
import { Schema } from './schema.ts';
import { Slices } from './slices.ts';
import type { AssignmentFact, Change, FetchedSlice, Rules, TupleFact } from './types.ts';

/** The indexes derived from the rules for one type and action. */
interface Derived {
  readonly grants: Grants;
  readonly policies: PolicyIndex;
}

/** A fetch of slices in progress: the model remembers the changes it applies until the last fetch ends. */
export interface Fetch {
  /** The model's revision when the fetch began. The snapshot is never older. */
  readonly from: number;
}

/** Bytes of a rule with its derived forms: a rough average, since there are at most some tens of thousands of rules. */
const bytesPerRule = 600;
const bytesPerDerivedRule = 2_000;

/** Policies that an index holds before it counts as more than one. */
const policiesPerUnit = 16;
const weightOf = ({ policies: { deny, allow } }: Derived) =>
  1 + Math.floor((deny.policies.length + allow.policies.length) / policiesPerUnit);

/** A tenant's rules and facts at one revision. `types.ts` explains how to drive it. */
export class Model {
  readonly mode: 'full' | 'partial';
  readonly facts = new Facts();
  readonly roles = new Roles(this.facts.strings);
  readonly policies = new Policies();
  readonly schema = new Schema(this.facts.strings);
  /** Null in full mode, where every slice is known. */
  readonly slices: Slices | null;
  readonly #derived = new Memo<Derived>(4_096, weightOf);
  readonly #fetches = new Set<Fetch>();
  #replay: Change[] = [];
  #revision = 0;

  constructor(mode: 'full' | 'partial') {
    this.mode = mode;
    this.slices = mode === 'partial' ? new Slices(this.facts) : null;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Estimated bytes of memory. */
  get bytes(): number {
    return this.#factBytes + this.#ruleBytes;
  }

  /** Number of facts held. In full mode these are all facts of the tenant. */
  get factCount(): number {
    return this.facts.count;
  }

  addRules({ roles, permissions, role_permissions, policies, resource_types }: Rules): void {
    for (const role of roles ?? []) this.roles.put(role);
    for (const permission of permissions ?? []) this.roles.putPermission(permission);
    for (const attachment of role_permissions ?? []) this.roles.attach(attachment);
    for (const policy of policies ?? []) this.policies.put(policy);
    for (const type of resource_types ?? []) this.schema.put(type);
    this.#derived.clear();
  }

  addTuples(tuples: Iterable<TupleFact>): void {
    for (const tuple of tuples) this.facts.putTuple(tuple);
  }

  addAssignments(assignments: Iterable<AssignmentFact>): void {
    for (const assignment of assignments) this.facts.putAssignment(assignment);
  }

  /** Ends the load: the added records are the state at this revision. */
  loaded(revision: number): void {
    this.#revision = revision;
  }

  /** Applies changes in the order of the log. The model already contains those at or below its revision. */
  apply(changes: readonly Change[]): void {
    let revision = this.#revision;
    for (const change of changes) {
      if (change.revision <= this.#revision) continue;
      this.#applyOne(change);
      if (this.#fetches.size > 0) this.#replay.push(change);
      revision = Math.max(revision, change.revision);
    }
    this.#revision = revision;
  }

  /** Moves to a revision once every change up to it has been applied. */
  advance(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  beginFetch(): Fetch {
    const fetch: Fetch = { from: this.#revision };
    this.#fetches.add(fetch);
    return fetch;
  }

  /** Ends a fetch that returned nothing. Does nothing when the fetch has already ended. */
  endFetch(fetch: Fetch): void {
    this.#fetches.delete(fetch);
    if (this.#fetches.size === 0) this.#replay = [];
  }

  /**
   * Adds slices read in one snapshot and brings them up to the model's revision, which must not be older than the snapshot's.
   * Ends the fetch.
   */
  addSlices(fetch: Fetch, slices: readonly FetchedSlice[], snapshotRevision: number): void {
    if (this.slices === null) throw new Error('a full model has every slice');
    if (!this.#fetches.has(fetch) || snapshotRevision < fetch.from || snapshotRevision > this.#revision) {
      throw new Error('slices of a snapshot that the model cannot bring up to date');
    }
    for (const slice of slices) this.slices.add(slice);
    for (const change of this.#replay) {
      if (change.revision > snapshotRevision && isOfFacts(change)) this.#applyOne(change);
    }
    this.endFetch(fetch);
  }

  /** Partial mode: forgets the least recently used slices until the model fits in `bytes` or none is left. */
  evict(bytes: number): void {
    if (this.slices === null) return;
    const forFacts = bytes - this.#ruleBytes;
    while (this.#factBytes > forFacts && this.slices.evictOne());
  }

  /** Removes expired facts from memory; they have had no effect since they expired. */
  dropExpired(now: number): void {
    this.facts.dropExpired(now);
  }

  /** Whether slice A, U, P or S (bits of `slices.ts`) of a node is known. */
  isKnown(bit: number, node: number): boolean {
    return this.slices === null || this.slices.isKnown(bit, node);
  }

  isMemberKnown(object: number, subject: number): boolean {
    return this.slices === null || this.slices.isMemberKnown(object, subject);
  }

  /** Returns the grants and policies for a type and an action, derived on first use. */
  derived(type: string, action: string): Derived {
    let derived = this.#derived.get(type, action);
    if (derived === undefined) {
      derived = { grants: new Grants(this.roles, type, action), policies: this.policies.index(type, action) };
      this.#derived.set(type, action, derived);
    }
    return derived;
  }

  /** Number of entries in the derived indexes, which is bounded whatever callers ask. */
  get derivedCount(): number {
    return this.#derived.size;
  }

  get #factBytes(): number {
    return this.facts.bytes + (this.slices?.bytes ?? 0);
  }

  get #ruleBytes(): number {
    const rules = this.roles.size + this.policies.size + this.schema.size;
    return rules * bytesPerRule + this.#derived.size * bytesPerDerivedRule;
  }

  #applyOne(change: Change): void {
    if (!isOfFacts(change)) this.#derived.clear();
    switch (change.entity) {
      case 'relation':
        if (change.op === 'del') for (const key of change.body) this.facts.deleteTuple(key);
        else for (const tuple of change.body) (this.slices ?? this.facts).putTuple(tuple);
        return;
      case 'assignment':
        if (change.op === 'del') for (const key of change.body) this.facts.deleteAssignment(key);
        else for (const assignment of change.body) (this.slices ?? this.facts).putAssignment(assignment);
        return;
      case 'role_permission':
        for (const attachment of change.body) {
          if (change.op === 'put') this.roles.attach(attachment);
          else this.roles.detach(attachment);
        }
        return;
      default:
        if (change.op === 'del') for (const { id } of change.body) this.#deleteRule(change.entity, id);
        else this.#putRules(change);
    }
  }

  #putRules(change: Change & { op: 'put' }): void {
    switch (change.entity) {
      case 'role':
        return change.body.forEach((role) => this.roles.put(role));
      case 'permission':
        return change.body.forEach((permission) => this.roles.putPermission(permission));
      case 'policy':
        return change.body.forEach((policy) => this.policies.put(policy));
      case 'resource_type':
        return change.body.forEach((type) => this.schema.put(type));
    }
  }

  #deleteRule(entity: 'role' | 'permission' | 'policy' | 'resource_type', id: string): void {
    if (entity === 'role') this.roles.delete(id);
    else if (entity === 'permission') this.roles.deletePermission(id);
    else if (entity === 'policy') this.policies.delete(id);
    else this.schema.delete(id);
  }
}

const isOfFacts = ({ entity }: Change) => entity === 'relation' || entity === 'assignment';
