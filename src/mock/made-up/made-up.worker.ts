/** Makes up answers off the main thread: if an answer takes too long or grows too large, its thread ends and the mock continues. */
import { parentPort, workerData } from 'node:worker_threads';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Operation } from '../../../generated/operations.ts';
import { exampleOfMedia, operationOf, type Document } from '../contract/document.ts';
import { isValues } from '../contract/values.ts';
import type { Outgoing } from '../answers/outgoing.ts';
import type { Preference } from '../answers/preference.ts';
import { prismAnswers } from '../answers/prism.ts';
import { smaller } from './smaller.ts';

/** A request for one answer. */
export interface Wanted {
  readonly operation: Operation;
  readonly preference: Preference & { readonly code: number };
  readonly contentType: string | null;
}

/** Number of attempts when the schema rejects the answers made up. */
const tries = 4;

const document = workerData as Document;
const answers = await prismAnswers(smaller(document));
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'mock:document', ...document });

parentPort!.on('message', (wanted: Wanted) => {
  void made(wanted).then(
    (outgoing) => parentPort!.postMessage(outgoing ?? null),
    () => parentPort!.postMessage(null),
  );
});
parentPort!.postMessage('ready');

/** Makes up an answer that its schema accepts. Returns undefined when no attempt succeeds. */
async function made({ operation, preference, contentType }: Wanted): Promise<Outgoing | undefined> {
  const media = operationOf(document, operation.id).responses[preference.code]?.content?.[contentType ?? ''];
  const validate = media?.schema && ajv.compile(inDocument(media.schema) as object);
  const example = media && exampleOfMedia(document, media);
  for (let count = 0; count < tries; count += 1) {
    const { seed } = preference;
    const outgoing = await answers(
      operation,
      seed === undefined || count === 0 ? preference : { ...preference, seed: `${seed} ${count}` },
      contentType,
    );
    if (typeof outgoing.body !== 'string' || !validate) return outgoing;
    const body = JSON.parse(outgoing.body) as unknown;
    if (validate(body)) return outgoing;
    const mended = withMembersOf(example, body, validate.errors ?? []);
    if (validate(mended)) return { ...outgoing, body: JSON.stringify(mended) };
  }
  return undefined;
}

/** Rewrites references in a schema of the document so that they work outside it. */
function inDocument(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inDocument);
  if (!isValues(node)) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' ? `mock:document${String(value)}` : inDocument(value),
    ]),
  );
}

/** Returns the body with the members that the schema rejects taken from the example. */
function withMembersOf(
  example: unknown,
  body: unknown,
  errors: readonly { instancePath: string; params: object }[],
): unknown {
  if (!isValues(body) || !isValues(example)) return body;
  const wrong = new Set(
    errors.flatMap(({ instancePath, params }) => [
      instancePath.split('/')[1] ?? '',
      ...('unevaluatedProperty' in params ? [String(params.unevaluatedProperty)] : []),
    ]),
  );
  const kept = Object.entries(body).filter(([key]) => !wrong.has(key));
  return {
    ...Object.fromEntries(Object.entries(example).filter(([key]) => wrong.has(key) || !(key in body))),
    ...Object.fromEntries(kept),
  };
}
