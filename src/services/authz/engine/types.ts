/**
 * The boundary of the decision engine. Everything in this folder is pure and synchronous: no database, no clock of its own, no
 * timers. The owner of a tenant's `Model` (the registry of the process) does the I/O around it:
 *
 *     const model = new Model('full' | 'partial');
 *     model.addRules(rows); model.addTuples(rows); model.addAssignments(rows);  // any number of chunks, any order;
 *     model.loaded(revision);                                                   // facts only in full mode
 *
 *     model.apply(changes);            // in order of revision; a change at or below `model.revision` is ignored
 *     model.advance(revision);         // a polled revision that left no change rows for this process to apply
 *
 *     for (;;) {
 *       const outcome = decide(model, input, { now, limits });
 *       if (outcome.missing === undefined) return { ...outcome.answer, revision: model.revision };
 *       const fetch = model.beginFetch();          // from here on the model remembers the changes it applies
 *       try {
 *         const { slices, revision } = await store.slices(outcome.missing);     // one statement, one snapshot
 *         while (model.revision < revision) await pull();                       // the model must not be behind it
 *         model.addSlices(fetch, slices, revision);  // replays what changed since the snapshot; ends the fetch
 *       } finally { model.endFetch(fetch); }       // harmless after addSlices
 *     }
 *     model.dropExpired(now);          // now and then: the sweep in the database logs no changes
 *     model.evict(bytes);              // partial mode: least recently used slices go until `model.bytes <= bytes`
 *
 * The caller must not await anything between `addSlices` and the next `decide`, and calls `evict` only between requests. A
 * decision then sees exactly one revision, `model.revision`. A full model never reports missing slices. `evict` on a full model
 * does nothing: such a model is dropped as a whole.
 *
 * The files:
 * - `model.ts` `Model`; `decide.ts` `decide(model, input, options): Outcome<Decision>` and
 *   `decideBatch(model, inputs, options): Outcome<Decision[]>` (missing slices of the whole batch, distinct); `explain.ts`
 *   `explain(model, input, options): Outcome<Explanation>`; `listing.ts` `listObjects(model, input, options)`,
 *   `listSubjects(model, input, options)`: generators that yield what they need, see `ListingStep`.
 * - Checks on write, each of which throws `Invalid('<field>: <problem>')`: `pattern.ts` `checkPattern(text, field)`; `roles.ts`
 *   `checkRoleParent(roles, id, parentId)` with all the tenant's `{id, parent_id}`; `type-graph.ts`
 *   `checkResourceType(type, types)` with the tenant's other types: names, subjects, expressions, cycles; `policies.ts`
 *   `checkPolicy(policy)`: subjects, actions, resources, conditions.
 *
 * Times are milliseconds since the epoch, taken from the database's clock; `now` is one value for a whole request.
 */

export type {
  KnownIds,
  Listing,
  ListingPage,
  ListingStep,
  ListObjectsInput,
  ListOptions,
  ListSubjectsInput,
} from './listing-types.ts';

/** A JSON object from the wire. Only own properties are read as members. */
export type Attributes = Readonly<Record<string, unknown>>;

interface Recorded {
  readonly id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly revision: number;
  readonly created_at: string;
}

export interface Role extends Recorded {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly parent_id: string | null;
  readonly is_system: boolean;
  readonly is_default: boolean;
  readonly metadata: Attributes;
  readonly updated_at: string;
}

export interface Permission extends Recorded {
  readonly name: string;
  readonly resource: string;
  readonly action: string;
  readonly description: string;
}

/** A permission attached to a role. */
export interface RolePermission {
  readonly role_id: string;
  readonly permission_id: string;
}

export interface Assignment extends Recorded {
  readonly role_id: string;
  readonly role_slug: string;
  readonly subject_kind: string;
  readonly subject_id: string;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly expires_at: string | null;
  readonly created_by: string;
}

export interface TupleKey {
  readonly object_type: string;
  readonly object_id: string;
  readonly relation: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly subject_relation: string;
}

export interface Tuple extends Recorded, TupleKey {
  readonly expires_at: string | null;
}

export interface Condition {
  readonly field: string;
  readonly operator: string;
  readonly value?: unknown;
  readonly timezone?: string;
}

export interface Policy extends Recorded {
  readonly name: string;
  readonly description: string;
  readonly effect: 'allow' | 'deny';
  readonly priority: number;
  readonly is_active: boolean;
  readonly subjects: readonly string[];
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions: readonly Condition[];
  readonly updated_at: string;
}

export interface Relation {
  readonly name: string;
  readonly subjects: readonly string[];
  /** Absent means `this`. */
  readonly expression?: string;
}

export interface ComputedPermission {
  readonly name: string;
  readonly expression: string;
}

export interface ResourceType extends Recorded {
  readonly name: string;
  readonly description: string;
  readonly relations: readonly Relation[];
  readonly permissions: readonly ComputedPermission[];
  readonly updated_at: string;
}

/** The members of a record that the engine needs. Wire records are assignable, and narrower rows may be loaded. */
export type RoleRule = Pick<Role, 'id' | 'slug' | 'parent_id' | 'is_default'>;
export type PermissionRule = Pick<Permission, 'id' | 'resource' | 'action'>;
export type PolicyRule = Pick<
  Policy,
  'id' | 'name' | 'effect' | 'priority' | 'is_active' | 'subjects' | 'actions' | 'resources' | 'conditions'
>;
export type ResourceTypeRule = Pick<ResourceType, 'id' | 'name' | 'relations' | 'permissions'>;
export type AssignmentFact = Pick<
  Assignment,
  'id' | 'role_id' | 'subject_kind' | 'subject_id' | 'resource_type' | 'resource_id' | 'expires_at'
>;
export type TupleFact = TupleKey & Pick<Tuple, 'id' | 'expires_at'>;

export interface Rules {
  readonly roles?: readonly RoleRule[];
  readonly permissions?: readonly PermissionRule[];
  readonly role_permissions?: readonly RolePermission[];
  readonly policies?: readonly PolicyRule[];
  readonly resource_types?: readonly ResourceTypeRule[];
}

/**
 * One row of the change log. `body` holds the changed records (1-500), each whole for `put`. For `del` the identity is enough:
 * `id` of rules, `role_id` and `permission_id` of attachments, the six key members of tuples, `id` with `subject_kind` and
 * `subject_id` of assignments. Deleting a role or a permission also deletes its attachments.
 */
export type Change = { readonly revision: number } & (
  | { readonly entity: 'role'; readonly op: 'put'; readonly body: readonly RoleRule[] }
  | { readonly entity: 'permission'; readonly op: 'put'; readonly body: readonly PermissionRule[] }
  | { readonly entity: 'policy'; readonly op: 'put'; readonly body: readonly PolicyRule[] }
  | { readonly entity: 'resource_type'; readonly op: 'put'; readonly body: readonly ResourceTypeRule[] }
  | {
      readonly entity: 'role' | 'permission' | 'policy' | 'resource_type';
      readonly op: 'del';
      readonly body: readonly { readonly id: string }[];
    }
  | {
      readonly entity: 'role_permission';
      readonly op: 'put' | 'del';
      readonly body: readonly RolePermission[];
    }
  | { readonly entity: 'assignment'; readonly op: 'put'; readonly body: readonly AssignmentFact[] }
  | {
      readonly entity: 'assignment';
      readonly op: 'del';
      readonly body: readonly Pick<Assignment, 'id' | 'subject_kind' | 'subject_id'>[];
    }
  | { readonly entity: 'relation'; readonly op: 'put'; readonly body: readonly TupleFact[] }
  | { readonly entity: 'relation'; readonly op: 'del'; readonly body: readonly TupleKey[] }
);

export interface CheckInput {
  readonly subject_kind: string;
  readonly subject_id: string;
  readonly action: string;
  readonly resource_type: string;
  /** Absent or `''` for a type-level question. */
  readonly resource_id?: string | undefined;
  readonly context?: Attributes | undefined;
  readonly subject_attributes?: Attributes | undefined;
  readonly resource_attributes?: Attributes | undefined;
  readonly action_attributes?: Attributes | undefined;
}

export type Source = 'rbac' | 'rebac' | 'abac';

export interface Match {
  readonly source: Source;
  /** The id of a permission, tuple or policy. */
  readonly rule_id: string;
  readonly detail: string;
}

/**
 * The check result without `revision`, which is the model's revision at the time of the decision. Objects are shared: never
 * mutate them.
 */
export interface Decision {
  readonly allowed: boolean;
  readonly decision: 'allow' | 'deny';
  readonly reason: string;
  readonly sources: readonly Source[];
  readonly matched_by: Match | null;
}

export interface Limits {
  /** Maximum length of a chain of nodes (`PLINTH_AUTHZ_MAX_DEPTH`). */
  readonly depth: number;
  /** Maximum number of nodes visited by one check (`PLINTH_AUTHZ_MAX_VISITS`). A batch shares four times as many. */
  readonly visits: number;
}

/** Says when work has to pause so that other tasks can run, and when its time is over. Each read of a member reads a clock. */
export interface Pace {
  readonly isPauseDue: boolean;
  readonly isOver: boolean;
}

export interface DecideOptions {
  readonly now: number;
  readonly limits: Limits;
  /** Without it, nothing pauses and time never runs out. */
  readonly pace?: Pace | undefined;
}

/** An answer, or in partial mode the slices that are needed to give one. */
export type Outcome<Answer> =
  | { readonly answer: Answer; readonly missing?: undefined }
  | { readonly answer?: undefined; readonly missing: readonly SliceKey[] };

/**
 * Work in time slices: it yields when other tasks should run and continues with `next()` on the same revision of the model. If
 * the model has moved on, the work has to start again.
 */
export type Work<Answer> = Generator<undefined, Outcome<Answer>, undefined>;

export interface Step {
  readonly source: Source;
  readonly result: 'allow' | 'deny' | 'no_match';
  readonly rule_id: string;
  readonly detail: string;
}

export interface Hint {
  readonly kind: 'policy' | 'role' | 'relation' | 'condition';
  readonly id: string;
  readonly detail: string;
}

export interface Explanation extends Decision {
  readonly steps: readonly Step[];
  readonly path: readonly string[];
  readonly missing: readonly Hint[];
}

/**
 * A part of the facts that is fetched, cached and evicted as a unit.
 * A: assignments of a subject. M: the tuple that makes a plain subject a direct member of an object set, if any.
 * U: tuples of an object set whose subject is a userset or `*`. P: tuples of an object set whose subject is plain
 * (`subject_relation = ''` and not `*`). S: tuples whose subject is exactly this one (`*` is requested like any other id).
 */
export type SliceKey =
  | { readonly slice: 'A'; readonly subject_kind: string; readonly subject_id: string }
  | {
      readonly slice: 'M';
      readonly object_type: string;
      readonly relation: string;
      readonly object_id: string;
      readonly subject_type: string;
      readonly subject_id: string;
    }
  | {
      readonly slice: 'U' | 'P';
      readonly object_type: string;
      readonly relation: string;
      readonly object_id: string;
    }
  | {
      readonly slice: 'S';
      readonly subject_type: string;
      readonly subject_id: string;
      readonly subject_relation: string;
    };

/** A slice as read. An empty result is an empty array and is remembered as such. */
export interface FetchedSlice {
  readonly key: SliceKey;
  /** Present for the slices M, U, P and S. */
  readonly tuples?: readonly TupleFact[];
  /** Present for the slice A. */
  readonly assignments?: readonly AssignmentFact[];
}
