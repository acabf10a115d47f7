import type {
  InstinctAction,
  Profile,
  Sensitivity,
  ValueAction,
} from '../../../../../generated/safety/types.ts';
import type { ProfileRules } from '../types.ts';
import { awareness, built, instincts, judgments, values } from './primitives.ts';

interface Level {
  readonly name: string;
  readonly description: string;
  readonly sensitivity: Sensitivity;
  readonly attacks: InstinctAction;
  readonly pii: { readonly action: 'redact' | 'flag'; readonly threshold?: number };
  readonly secrets: 'redact' | 'block';
  /** Toxicity and respect; null where they are left out. */
  readonly manners: { readonly threshold: number; readonly action: ValueAction } | null;
  readonly safety: { readonly threshold: number; readonly action: ValueAction };
}

const balanced: Level = {
  name: 'balanced',
  description: 'Blocks attacks and dangerous content, redacts personal data and secrets, flags toxicity.',
  sensitivity: 'balanced',
  attacks: 'block',
  pii: { action: 'redact' },
  secrets: 'redact',
  manners: { threshold: 0.8, action: 'flag' },
  safety: { threshold: 0.8, action: 'block' },
};

const levels: readonly Level[] = [
  {
    name: 'permissive',
    description: 'Flags what is almost certain, and redacts secrets.',
    sensitivity: 'permissive',
    attacks: 'flag',
    pii: { action: 'flag' },
    secrets: 'redact',
    manners: null,
    safety: { threshold: 0.9, action: 'flag' },
  },
  balanced,
  {
    name: 'cautious',
    description: 'Like balanced at lower thresholds; blocks secrets and toxicity too.',
    sensitivity: 'cautious',
    attacks: 'block',
    pii: { action: 'redact' },
    secrets: 'block',
    manners: { threshold: 0.7, action: 'block' },
    safety: { threshold: 0.7, action: 'block' },
  },
  {
    name: 'paranoid',
    description:
      'Blocks whatever looks like an attack, a secret or toxicity, and redacts uncertain personal data.',
    sensitivity: 'paranoid',
    attacks: 'block',
    pii: { action: 'redact', threshold: 0.3 },
    secrets: 'block',
    manners: { threshold: 0.5, action: 'block' },
    safety: { threshold: 0.5, action: 'block' },
  },
  { ...balanced, name: 'default', description: 'The profile of scans that name none; a copy of balanced.' },
];

const profiles: readonly Profile[] = levels.map((level, index) => ({
  ...built('sprf', index + 1),
  name: level.name,
  description: level.description,
  instincts: instincts.map(({ name }) => ({ instinct_name: name, sensitivity: level.sensitivity })),
  awareness: [
    { awareness_name: 'builtin/pii', action: level.pii.action },
    { awareness_name: 'builtin/secrets', action: level.secrets },
  ],
  boundaries: [],
  values: usedValues(level).map(({ primitive }) => primitive.name),
  judgments: [],
  reflexes: [],
  redaction: { method: 'placeholder', config: {} },
  phone_regions: [],
  short_circuit: true,
  on_error: 'fail',
}));

function usedValues({ manners, safety }: Level): ProfileRules['values'] {
  return values.flatMap((primitive) => {
    const use = primitive.name === 'builtin/safety' ? safety : manners;
    return use === null ? [] : [{ primitive, ...use }];
  });
}

/** The rules of a built-in profile, with overrides that the profiles of apps do not have; undefined for other names. */
function rulesOf(name: string): ProfileRules | undefined {
  const level = levels.find((candidate) => candidate.name === name);
  if (level === undefined) return undefined;
  const [pii, secrets] = awareness;
  return {
    revision: 0,
    instincts: instincts.map((primitive) => ({
      primitive,
      sensitivity: level.sensitivity,
      action: level.attacks,
    })),
    awareness: [
      { primitive: pii!, ...level.pii },
      { primitive: secrets!, action: level.secrets },
    ],
    boundaries: [],
    values: usedValues(level),
    judgments: [],
    reflexes: [],
    redaction: { method: 'placeholder', config: {} },
    phone_regions: [],
    short_circuit: true,
    on_error: 'fail',
  };
}

/** The built-in primitives and profiles, as they are listed. */
export const builtins = { instincts, awareness, values, judgments, profiles, rulesOf } as const;
