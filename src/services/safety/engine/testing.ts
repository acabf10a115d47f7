import { createHmac } from 'node:crypto';
import type {
  Action,
  AwarenessPrimitiveCreate,
  BoundaryCreate,
  DetectorRule,
  InstinctCreate,
  JudgmentCreate,
  ReflexCreate,
  ValueCreate,
} from '../../../../generated/safety/types.ts';
import { builtins, compile, compilePolicy, type CompiledPolicy, scan } from './index.ts';
import type { EngineResult, ProfileRules, ScanInput } from './types.ts';

const described = (name: string) => ({
  name,
  description: '',
  enabled: true,
  directions: ['input' as const, 'output' as const],
  metadata: {},
});

export const instinct = (own: Partial<InstinctCreate> = {}): InstinctCreate => ({
  ...described('instinct'),
  category: 'injection',
  strategies: [],
  sensitivity: 'balanced',
  action: 'block',
  ...own,
});

export const awareness = (own: Partial<AwarenessPrimitiveCreate> = {}): AwarenessPrimitiveCreate => ({
  ...described('awareness'),
  focus: 'pii',
  detectors: [],
  threshold: 0.5,
  action: 'redact',
  redaction: null,
  allow_list: [],
  ...own,
});

export const detector = (own: Partial<DetectorRule> = {}): DetectorRule => ({
  name: 'custom',
  patterns: [],
  keywords: [],
  match: 'word',
  config: {},
  ...own,
});

export const boundary = (own: Partial<BoundaryCreate['limits'][number]>, response = ''): BoundaryCreate => ({
  ...described('boundary'),
  limits: [{ scope: 'custom', deny: [], allow: [], use_allow: false, match: 'word', ...own }],
  response,
});

export const value = (
  rule: Partial<ValueCreate['rules'][number]> = {},
  own: Partial<ValueCreate> = {},
): ValueCreate => ({
  ...described('value'),
  rules: [
    {
      principle: 'toxicity',
      threshold: 0.7,
      categories: [],
      keywords: [],
      config: {},
      ...rule,
    },
  ],
  severity: 'warning',
  action: 'flag',
  ...own,
});

export const judgment = (own: Partial<JudgmentCreate> = {}): JudgmentCreate => ({
  ...described('judgment'),
  domain: 'grounding',
  assessors: [],
  threshold: 0.6,
  action: 'flag',
  ...own,
});

export const reflex = (own: Partial<ReflexCreate> = {}): ReflexCreate => ({
  ...described('reflex'),
  triggers: [{ type: 'always' }],
  match: 'any',
  actions: [{ type: 'flag' }],
  priority: 0,
  ...own,
});

/** A policy with one rule over all findings. */
export const policyOf = (condition: string, action: Action, error_message = ''): CompiledPolicy =>
  compilePolicy({
    name: 'policy',
    rules: [{ check_type: 'any', condition, action, error_message, priority: 0 }],
  });

const none: ProfileRules = {
  revision: 1,
  instincts: [],
  awareness: [],
  boundaries: [],
  values: [],
  judgments: [],
  reflexes: [],
  redaction: { method: 'placeholder', config: {} },
  phone_regions: [],
  short_circuit: true,
  on_error: 'fail',
};

/** The rules of a profile that has only the given ones. */
export const rules = (own: Partial<ProfileRules>): ProfileRules => ({ ...none, ...own });

export const profile = (name: string): ProfileRules => builtins.rulesOf(name)!;

const matchers = new WeakMap<ProfileRules, ReturnType<typeof compile>>();

/** Names of values as a tenant's keys would make them. */
const digest = (name: string, text: string) =>
  createHmac('sha256', 'key').update(`${name}\0${text}`).digest('hex');

/** Scans a text by some rules, or by those of a built-in profile. */
export function scanText(
  text: string,
  by: ProfileRules | string = 'default',
  own: Partial<ScanInput> = {},
): Promise<EngineResult> {
  const ownRules = typeof by === 'string' ? knownProfile(by) : by;
  let matcher = matchers.get(ownRules);
  if (matcher === undefined) matchers.set(ownRules, (matcher = compile(ownRules)));
  return scan(matcher, {
    text,
    direction: 'input',
    context: {},
    metadata: {},
    userId: 'user-42',
    policies: [],
    vault: { tokenOf: (name, _label, raw) => digest(name, raw).slice(0, 10) },
    hash: (name, normalised) => digest(name, normalised).slice(0, 12),
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    endsAt: Infinity,
    ...own,
  });
}

const profiles = new Map<string, ProfileRules>();

function knownProfile(name: string): ProfileRules {
  let known = profiles.get(name);
  if (known === undefined) profiles.set(name, (known = profile(name)));
  return known;
}
