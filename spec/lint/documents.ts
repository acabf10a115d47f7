/** Lints the compiled documents and the merged one, or only some documents: `node spec/lint/documents.ts Keys Auth`. */
import { readFileSync } from 'node:fs';
import { services } from '../../generated/operations.ts';
import { mergeDocuments, type OpenApi } from '../../src/http/merged-document.ts';
import { findings } from './redocly.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../tsp-output/openapi/${name}.json`, import.meta.url), 'utf8');

const documents = Object.entries(services).map(([service, { document: name }]) => {
  return { service, name, text: read(name) };
});
const merged = mergeDocuments(
  documents.map(({ service, text }) => ({
    name: service,
    prefix: `/${service}`,
    document: JSON.parse(text) as OpenApi,
  })),
);

const asked = process.argv.slice(2);
const found: string[] = [];
for (const { name, text } of documents)
  if (asked.length === 0 || asked.includes(name)) found.push(...(await findings(name, text)));
if (asked.length === 0) found.push(...(await findings('Merged', JSON.stringify(merged), { merged: true })));

for (const line of found) console.error(line);
console.log(
  `${asked.join(', ') || `${documents.length} documents and the merged one`}: ${found.length} findings`,
);
process.exitCode = found.length > 0 ? 1 : 0;
