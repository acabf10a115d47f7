// The house rules of the contract. Each rule has a page of its own. An exception is declared where it occurs:
// `#suppress "@plinth/spec-lint/<rule>" "why"`.
import { createTypeSpecLibrary, defineLinter } from '@typespec/compiler';
import { boundedRule } from './rules/bounded.js';
import { casingRule } from './rules/casing.js';
import { documentedRule } from './rules/documented.js';
import { exampleRule } from './rules/example.js';
import { failuresRule } from './rules/failures.js';
import { listLimitRule } from './rules/list-limit.js';
import { taggedRule } from './rules/tagged.js';

export const $lib = createTypeSpecLibrary({ name: '@plinth/spec-lint', diagnostics: {} });

const rules = [boundedRule, casingRule, documentedRule, exampleRule, failuresRule, listLimitRule, taggedRule];

export const $linter = defineLinter({
  rules,
  ruleSets: {
    recommended: {
      enable: Object.fromEntries(rules.map((rule) => [`@plinth/spec-lint/${rule.name}`, true])),
    },
  },
});
