/**
 * The engine: decides about a text by the rules of a profile. It is a pure function of the text, the rules and the keys of
 * its ports, takes time linear in the text, and returns to the event loop every few milliseconds.
 *
 * - A *view* is a form of the text in which one kind of rule is matched, with a map back to the offsets of the text.
 * - A *pack* is a file of built-in rules.
 * - A *matcher* is a profile whose rules are compiled.
 */
export { builtins } from './builtins/builtins.ts';
export { detectorCatalogue } from './builtins/detectors.ts';
export { checkRegex } from './expressions/checks.ts';
export { isCountry as isPhoneRegion } from './forms/phone-plans.ts';
export { compile, type Matcher } from './matcher.ts';
export { namesInCondition } from './policies/named.ts';
export { checkPolicy, compilePolicy, type CompiledPolicy } from './policies/policies.ts';
export { Interrupted } from './pace.ts';
export { scan } from './scan.ts';
export type * from './types.ts';
