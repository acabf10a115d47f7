/** Returns what Redocly's linter finds in a document of the contract. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { readFileSync } from 'node:fs';
import { exceptions } from './exceptions.ts';

const rules = readFileSync(new URL('redocly.yaml', import.meta.url), 'utf8');

/** Rules that find nothing new in the merged document beyond the findings in its parts. */
const once = [
  'no-ambiguous-paths',
  'no-unused-components',
  'no-invalid-media-type-examples',
  'no-invalid-schema-examples',
  'no-invalid-parameter-examples',
];

/** Returns one line per finding: `Billing: no-unused-components: Component: "Error" is never used. #/components/…`. */
export async function findings(name: string, text: string, { merged = false } = {}): Promise<string[]> {
  const config = await createConfig(rules);
  if (merged) config.styleguide.skipRules(once);
  const problems = await lintFromString({ source: text, absoluteRef: `/${name}.json`, config });
  const found = problems.map(({ ruleId, message, location }) => ({
    rule: ruleId,
    message,
    pointer: location[0]?.pointer ?? '#/',
  }));
  const accepted = exceptions[name] ?? [];
  const stale = accepted.filter(
    ({ rule, pointer }) => !found.some((one) => one.rule === rule && one.pointer === pointer),
  );
  return [
    ...found
      .filter((one) => !accepted.some(({ rule, pointer }) => one.rule === rule && one.pointer === pointer))
      .map(({ rule, message, pointer }) => `${name}: ${rule}: ${message} ${pointer}`),
    ...stale.map(({ rule, pointer }) => `${name}: ${rule}: this exception is not needed ${pointer}`),
  ];
}
