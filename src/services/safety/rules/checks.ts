import type {
  AwarenessPrimitiveCreate,
  BoundaryCreate,
  InstinctCreate,
  JudgmentCreate,
  PolicyCreate,
  ProfileCreate,
  Principle,
  ValueCreate,
} from '../../../../generated/safety/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { checkPolicy, detectorCatalogue, isPhoneRegion } from '../engine/index.ts';
import type { RuleKind } from '../limits.ts';
import { checkReflex } from './reflex-checks.ts';
import type { Body } from './references.ts';

/** The most bytes of free-form data, and of the settings of a part. */
const mostMetadata = 16_384;
const mostConfig = 4_096;

/**
 * Checks what the contract cannot say about a rule of this kind. What was stored before is not refused when something else changes:
 * a policy whose condition can never be true can still be disabled. @throws Invalid, naming the member
 */
export function checkRule(kind: RuleKind, body: Body, changes: Body = body): void {
  checkSize('metadata', body['metadata'], mostMetadata);
  if (kind === 'policy' && changes['rules'] === undefined) return;
  const check = (checks as Partial<Record<RuleKind, (body: never) => void>>)[kind];
  check?.(body as never);
}

/** @throws Invalid for a value that takes more bytes as JSON */
export function checkSize(field: string, value: unknown, most: number): void {
  if (Buffer.byteLength(JSON.stringify(value)) > most) throw Invalid(`${field}: larger than ${most} bytes`);
}

const checks = {
  instinct: checkInstinct,
  awareness: checkAwareness,
  boundary: checkBoundary,
  value: checkValue,
  judgment: checkJudgment,
  reflex: checkReflex,
  profile: checkProfile,
  policy: (policy: PolicyCreate) => checkPolicy(policy),
};

function checkInstinct({ strategies }: InstinctCreate): void {
  checkDistinct('strategies', strategies);
  strategies.forEach(({ name, config }, index) => {
    const field = `strategies[${index}].config`;
    checkSize(field, config, mostConfig);
    if (config.disable !== undefined && name !== 'patterns')
      throw Invalid(`${field}.disable: only for patterns`);
    if (config.tokens !== undefined && name !== 'canary') throw Invalid(`${field}.tokens: only for canary`);
  });
}

/** Parts are told apart by their names. */
function checkDistinct(list: string, items: readonly { readonly name: string }[]): void {
  const names = new Set<string>();
  items.forEach(({ name }, index) => {
    if (names.has(name)) throw Invalid(`${list}[${index}].name: named twice`);
    names.add(name);
  });
}

function checkAwareness({ focus, detectors: wanted }: AwarenessPrimitiveCreate): void {
  if (focus === 'custom' && wanted.length === 0) throw Invalid('detectors: custom needs at least one');
  checkDistinct('detectors', wanted);
  wanted.forEach(({ name, patterns, keywords, config }, index) => {
    const field = `detectors[${index}]`;
    checkSize(`${field}.config`, config, mostConfig);
    const isOwn = patterns.length > 0 || keywords.length > 0;
    const isBuiltIn = detectorCatalogue.some((known) => known.id === name && known.focus === focus);
    if (isOwn && focus !== 'custom' && focus !== 'topic')
      throw Invalid(`${field}: keywords and patterns are only for custom and topic`);
    if (focus === 'custom' && !isOwn) throw Invalid(`${field}: needs keywords or patterns`);
    if (!isOwn && !isBuiltIn) throw Invalid(`${field}.name: no detector of ${focus} has this id`);
    if (config.below !== undefined && focus !== 'sentiment')
      throw Invalid(`${field}.config.below: only for sentiment`);
    if (config.allow !== undefined && focus !== 'language')
      throw Invalid(`${field}.config.allow: only for language`);
  });
}

function checkBoundary({ limits }: BoundaryCreate): void {
  limits.forEach(({ use_allow, allow, deny }, index) => {
    const used = use_allow ? 'allow' : 'deny';
    if ((use_allow ? allow : deny).length === 0) throw Invalid(`limits[${index}].${used}: must not be empty`);
  });
}

const categoriesOf: Readonly<Partial<Record<Principle, readonly string[]>>> = {
  toxicity: ['insult', 'profanity', 'threat', 'harassment', 'hate'],
  respect: ['insult', 'condescension', 'discrimination'],
  safety: ['violence', 'weapons', 'drugs', 'self_harm', 'cyber_abuse', 'terror', 'csae'],
};

/** Principles that consist of nothing but the app's words. */
const ofWords: ReadonlySet<Principle> = new Set(['brand_safety', 'custom']);

function checkValue({ rules }: ValueCreate): void {
  rules.forEach(({ principle, categories, keywords }, at) => {
    const known = categoriesOf[principle] ?? [];
    const unknown = categories.findIndex((category) => !known.includes(category));
    if (unknown >= 0) throw Invalid(`rules[${at}].categories[${unknown}]: no category of ${principle}`);
    if (ofWords.has(principle) && keywords.length === 0)
      throw Invalid(`rules[${at}].keywords: must not be empty`);
  });
}

function checkJudgment({ domain, assessors }: JudgmentCreate): void {
  if (assessors.length === 0 && (domain === 'custom' || domain === 'compliance'))
    throw Invalid(`assessors: ${domain} needs at least one`);
  checkDistinct('assessors', assessors);
  assessors.forEach(({ name, config }, index) => {
    const field = `assessors[${index}].config`;
    checkSize(field, config, mostConfig);
    const { required = [], forbidden = [] } = config;
    const hasWords = required.length > 0 || forbidden.length > 0;
    if (hasWords && name !== 'keywords') throw Invalid(`${field}: words are only for keywords`);
    if (!hasWords && name === 'keywords') throw Invalid(`${field}: needs required or forbidden words`);
  });
}

function checkProfile({ phone_regions }: ProfileCreate): void {
  phone_regions.forEach((region, index) => {
    const field = `phone_regions[${index}]`;
    if (!isPhoneRegion(region)) throw Invalid(`${field}: no country of this code has known phone numbers`);
    if (phone_regions.indexOf(region) < index) throw Invalid(`${field}: named twice`);
  });
}
