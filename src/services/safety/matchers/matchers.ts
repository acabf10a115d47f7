import { LRUCache } from 'lru-cache';
import { createFreshCache } from '../../../db/fresh-cache.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { compile, type CompiledPolicy, type Matcher, type ProfileRules } from '../engine/index.ts';
import { assignmentStore } from '../policies/assignments.store.ts';
import { assignmentsOf } from '../writes.ts';
import {
  type AppRules,
  appRulesOf,
  type Assigned,
  type Choice,
  choiceOf,
  inForce,
  namesByKey,
  profileNamed,
  profileRulesOf,
  stateOf,
} from './app-rules.ts';
import { sourceStore } from './sources.store.ts';

/** What a scan is decided by. */
export interface Rules {
  readonly profile: string;
  readonly revision: number;
  readonly rules: ProfileRules;
  readonly matcher: Matcher;
  readonly policies: readonly CompiledPolicy[];
  readonly policyNames: readonly string[];
  /** Whether values may be named by the tenant's key. */
  readonly isKeyed: boolean;
  /** The choice of a policy that the request does not follow. */
  readonly overruled?: Overruled | undefined;
}

export interface Overruled {
  readonly policy: string;
  /** The name of the profile that the policy chooses. */
  readonly profile: string;
  /** Whether only the operator can take the policy away. */
  readonly isOperators: boolean;
}

export interface Matchers {
  /** The rules of a scan at this moment. @throws Invalid for a profile that is unknown or disabled */
  rulesFor(scope: Scope, profile: string | undefined): Promise<Rules>;
}

interface Scope {
  readonly tenant: string;
  readonly app: string;
}

interface Compiled {
  readonly rules: ProfileRules;
  readonly matcher: Matcher;
  readonly isKeyed: boolean;
}

/** The numbers of apps and of tenants whose rules and assignments are kept. */
const keptApps = 1_000;
const keptTenants = 20_000;

/**
 * Keeps the rules of apps as they were read, and the matchers compiled from them, up to the given memory. A change reaches this
 * process at once, and others within the staleness bound; when the database cannot be heard, a scan reads the rules again.
 */
export function createMatchers({
  db,
  changes,
  settings,
}: Pick<Deps, 'db' | 'changes' | 'settings'>): Matchers {
  const apps = createFreshCache<string, AppRules>({
    size: keptApps,
    changes,
    keyOf: (app) => app,
    subjectsOf: ({ app }) => [{ kind: 'app', id: app }],
    async read(wanted) {
      const rows = new Map((await sourceStore(db.sql).rulesOf(wanted)).map((row) => [row.app_id, row]));
      return new Map(
        wanted.map((app) => [app, appRulesOf(app, rows.get(app) ?? { revision: 0, rules: [] })] as const),
      );
    },
  });

  const assignments = createFreshCache<Scope, { scope: Scope; policies: Assigned }>({
    size: keptTenants,
    changes,
    keyOf: ({ tenant, app }) => `${tenant} ${app}`,
    // A policy that is deleted takes its assignments along, which is a change of the app.
    subjectsOf: ({ scope: { tenant, app } }) => [assignmentsOf(tenant, app), { kind: 'app', id: app }],
    async read(wanted) {
      const store = assignmentStore(db.sql);
      const rows = await store.assigned(
        wanted.map(({ tenant }) => tenant),
        wanted.map(({ app }) => app),
      );
      const found = new Map<string, Map<string, { byOperator: boolean }>>();
      for (const { tenant_id, app_id, policy_id, by_operator } of rows) {
        const key = `${tenant_id} ${app_id}`;
        const policies = found.get(key) ?? new Map<string, { byOperator: boolean }>();
        found.set(key, policies.set(policy_id, { byOperator: by_operator }));
      }
      return new Map(
        wanted.map((scope) => {
          const key = `${scope.tenant} ${scope.app}`;
          return [key, { scope, policies: found.get(key) ?? new Map() }] as const;
        }),
      );
    },
  });

  const compiled = new LRUCache<string, Compiled>({
    maxSize: settings.memory,
    maxEntrySize: settings.memory,
    sizeCalculation: ({ rules, matcher }) => sizeOf(rules, matcher),
  });

  function matcherOf(app: AppRules, profile: { id: string; name: string }): Compiled {
    const key = stateOf(app, profile);
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const rules = profileRulesOf(app, profile);
    const entry = { rules, matcher: compile(rules), isKeyed: namesByKey(rules) };
    compiled.set(key, entry);
    return entry;
  }

  return {
    async rulesFor(scope, asked) {
      const app = apps.get(scope.app) ?? (await apps.load(scope.app))!;
      const key = `${scope.tenant} ${scope.app}`;
      const given =
        app.policies.length === 0 ? undefined : (assignments.get(key) ?? (await assignments.load(scope)));
      const assigned: Assigned = given?.policies ?? new Map();
      const policies = inForce(app, assigned);
      const choice = choiceOf(app, policies);
      const profile =
        asked === undefined
          ? (choice?.profile ?? profileNamed(app, 'default'))
          : profileNamed(app, asked.trim());
      if (profile === undefined) throw Invalid('profile: no enabled profile has this name');
      const isFollowed = choice === undefined || choice.profile.id === profile.id;
      return {
        ...matcherOf(app, profile),
        profile: profile.name,
        revision: app.revision,
        policies: policies.map(({ compiled }) => compiled),
        policyNames: policies.map(({ name }) => name),
        overruled: isFollowed ? undefined : overruledBy(choice, assigned),
      };
    },
  };
}

const overruledBy = ({ policy, profile }: Choice, assigned: Assigned): Overruled => ({
  policy: policy.name,
  profile: profile.name,
  isOperators: policy.isForAll || assigned.get(policy.id)?.byOperator === true,
});

/** About how many bytes a matcher takes: its rules as text, times what an automaton adds to them. */
const sizeOf = (rules: ProfileRules, { programSize }: Matcher) =>
  16_384 + JSON.stringify(rules).length * 24 + programSize * 256;
