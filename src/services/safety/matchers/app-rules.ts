import { LRUCache } from 'lru-cache';
import type {
  AwarenessPrimitiveCreate,
  BoundaryCreate,
  InstinctCreate,
  JudgmentCreate,
  Policy,
  Profile,
  ReflexCreate,
  ValueCreate,
} from '../../../../generated/safety/types.ts';
import {
  builtins,
  type CompiledPolicy,
  compilePolicy,
  type PolicyRules,
  type ProfileRules,
} from '../engine/index.ts';
import type { AppRows } from './sources.store.ts';

type Stored = AppRows['rules'][number];

/** A policy of an app, with its conditions compiled. */
export interface PolicyInForce {
  readonly id: string;
  readonly name: string;
  /** Whether it applies to all tenants, and not only to those to which it is assigned. */
  readonly isForAll: boolean;
  /** The id of the profile that it chooses. */
  readonly profile: string | undefined;
  readonly compiled: CompiledPolicy;
}

/** The rules of one app at one revision. */
export interface AppRules {
  readonly app: string;
  readonly revision: number;
  /** The enabled policies, by priority and name. */
  readonly policies: readonly PolicyInForce[];
  readonly byId: ReadonlyMap<string, Stored>;
  /** The app's own profiles that are enabled, by name. */
  readonly profiles: ReadonlyMap<string, Stored>;
}

/** The number of policies that are kept compiled, so that a change of one rule does not compile all policies again. */
const keptPolicies = 2_000;
const compiledPolicies = new LRUCache<string, CompiledPolicy>({ max: keptPolicies });

/** Compiles a policy as it has been since a revision. */
function compiledAt(id: string, revision: number, policy: PolicyRules): CompiledPolicy {
  const key = `${id} ${revision}`;
  let compiled = compiledPolicies.get(key);
  if (compiled === undefined) compiledPolicies.set(key, (compiled = compilePolicy(policy)));
  return compiled;
}

export function appRulesOf(app: string, { revision, rules }: Pick<AppRows, 'revision' | 'rules'>): AppRules {
  const profiles = rules.filter(({ kind, enabled }) => kind === 'profile' && enabled);
  const policies = rules.filter(({ kind, enabled }) => kind === 'policy' && enabled).sort(byPriority);
  return {
    ...{ app, revision },
    policies: policies.map(({ id, name, revision, body }) => {
      const { scope_level, profile, rules } = body as unknown as Policy;
      const compiled = compiledAt(id, Number(revision), { name, rules });
      return { id, name, isForAll: scope_level === 'app', profile: profile ?? undefined, compiled };
    }),
    byId: new Map(rules.map((rule) => [rule.id, rule])),
    profiles: new Map(profiles.map((profile) => [profile.name, profile])),
  };
}

const byPriority = (one: Stored, other: Stored) =>
  Number(one.body['priority']) - Number(other.body['priority']) || (one.name < other.name ? -1 : 1);

/**
 * Names the state of a profile with all that it consists of. A rule has the revision of its last change, and a later change has a
 * higher one, so that the highest of them tells states apart. What else changes in the app leaves the name as it is.
 */
export function stateOf({ app, byId }: AppRules, { id }: ChosenProfile): string {
  const stored = byId.get(id);
  // A built-in profile is the same for all apps.
  if (stored === undefined) return id;
  const revisions = stored.refs.map((ref) => Number(byId.get(ref)?.revision ?? 0));
  return `${app} ${id} ${Math.max(Number(stored.revision), ...revisions)}`;
}

/** The policies that are assigned to a tenant, and whether the operator did it. */
export type Assigned = ReadonlyMap<string, { readonly byOperator: boolean }>;

/** The policies that apply to a tenant. */
export const inForce = ({ policies }: AppRules, assigned: Assigned): PolicyInForce[] =>
  policies.filter(({ id, isForAll }) => isForAll || assigned.has(id));

/** A profile that a scan uses: one of the app's own, or a built-in one. */
export interface ChosenProfile {
  readonly id: string;
  readonly name: string;
}

const builtInProfiles = new Map(builtins.profiles.map((profile) => [profile.name, profile]));
const builtInNames = new Map(builtins.profiles.map(({ id, name }) => [id, name]));

/** An enabled profile of this name; an app's own takes the place of the built-in one. */
export const profileNamed = ({ profiles }: AppRules, name: string): ChosenProfile | undefined =>
  profiles.get(name) ?? builtInProfiles.get(name);

/** A policy with the profile that it chooses. */
export interface Choice {
  readonly policy: PolicyInForce;
  readonly profile: ChosenProfile;
}

/** The choice of the first policy in force that names an enabled profile. */
export function choiceOf({ byId }: AppRules, policies: readonly PolicyInForce[]): Choice | undefined {
  for (const policy of policies) {
    if (policy.profile === undefined) continue;
    const own = byId.get(policy.profile);
    if (own?.enabled) return { policy, profile: own };
    const name = builtInNames.get(policy.profile);
    if (name !== undefined) return { policy, profile: { id: policy.profile, name } };
  }
  return undefined;
}

/** The rules of a profile, as the engine compiles them. */
export function profileRulesOf({ byId, revision }: AppRules, { id, name }: ChosenProfile): ProfileRules {
  const stored = byId.get(id);
  if (stored === undefined) return { ...builtins.rulesOf(name)!, revision };
  const profile = stored.body as unknown as Profile;
  const primitive = (ref: string) => primitiveOf(byId, ref);
  return {
    revision,
    instincts: profile.instincts.map(({ instinct_name, sensitivity }) => ({
      primitive: primitive(instinct_name) as InstinctCreate,
      sensitivity,
    })),
    awareness: profile.awareness.map(({ awareness_name, action }) => ({
      primitive: primitive(awareness_name) as AwarenessPrimitiveCreate,
      action,
    })),
    boundaries: profile.boundaries.map((ref) => primitive(ref) as BoundaryCreate),
    values: profile.values.map((ref) => ({ primitive: primitive(ref) as ValueCreate })),
    judgments: profile.judgments.map(({ judgment_name, threshold }) => ({
      primitive: primitive(judgment_name) as JudgmentCreate,
      threshold,
    })),
    reflexes: profile.reflexes.map((ref) => primitive(ref) as ReflexCreate),
    redaction: profile.redaction,
    // Profiles of earlier releases have none.
    phone_regions: (profile as Partial<Profile>).phone_regions ?? [],
    short_circuit: profile.short_circuit,
    on_error: profile.on_error,
  };
}

const builtInPrimitives = new Map(
  [...builtins.instincts, ...builtins.awareness, ...builtins.values, ...builtins.judgments].map(
    (primitive) => [primitive.id, primitive as object],
  ),
);

/** References keep a primitive from being deleted, so that it is always there. */
function primitiveOf(byId: AppRules['byId'], id: string): object {
  const stored = byId.get(id);
  if (stored !== undefined) return { ...stored.body, name: stored.name, enabled: stored.enabled };
  const builtIn = builtInPrimitives.get(id);
  if (builtIn === undefined) throw new Error(`a profile refers to ${id}, which does not exist`);
  return builtIn;
}

/** Whether a scan with these rules may name values by the tenant's key. */
export function namesByKey({ awareness, redaction }: ProfileRules): boolean {
  const isKeyed = (method: string | undefined) => method === 'vault' || method === 'hash';
  return (
    isKeyed(redaction.method) ||
    awareness.some(
      ({ primitive, action }) =>
        (action ?? primitive.action) === 'vault' || isKeyed(primitive.redaction?.method),
    )
  );
}
