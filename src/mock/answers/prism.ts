import { createInstance, getHttpOperationsFromSpec, ProblemJsonError } from '@stoplight/prism-http';
import { pino } from 'pino';
import type { Operation } from '../../../generated/operations.ts';
import { Invalid } from '../../lib/errors.ts';
import type { Document } from '../contract/document.ts';
import type { Outgoing } from './outgoing.ts';
import type { Preference } from './preference.ts';

/**
 * Returns an operation's documented answer that matches the preference, with the given content type if there are several.
 * @throws Invalid for an answer that is not documented
 */
export type Answers = (
  operation: Operation,
  preference: Preference,
  contentType: string | null,
) => Promise<Outgoing>;

/** Prism only answers here. It neither routes nor validates, because it ignores servers, sealed objects and greedy paths. */
const config = {
  checkSecurity: false,
  validateRequest: false,
  validateResponse: false,
  errors: false,
  isProxy: false,
  upstreamProxy: undefined,
} as const;

export async function prismAnswers(document: Document): Promise<Answers> {
  const known = await getHttpOperationsFromSpec(forPrism(document) as object);
  // Prism defines its own log level, and child loggers inherit from their parent.
  const logger = Object.assign(pino({ level: 'silent' }), { success: () => {} });
  const prism = createInstance({ ...config, mock: { dynamic: false } }, { logger });

  return async ({ id, verb }, preference, wanted) => {
    const operation = known.find(({ iid }) => iid === id);
    if (!operation) throw new Error(`${id} is not in the document: run npm run generate`);
    const { code, exampleKey } = preference;
    const contents = operation.responses.find((response) => response.code === String(code))?.contents ?? [];
    const examples = contents.find(({ mediaType }) => mediaType === wanted)?.examples ?? [];
    // Without this check Prism would answer another status.
    if (exampleKey !== undefined && contents.length > 0 && !examples.some(({ key }) => key === exampleKey))
      throw Invalid(`Prefer: there is no example ${exampleKey}`);
    const input = {
      method: operation.method as 'get',
      url: { path: operation.path, query: {} },
      headers: wanted === null ? {} : { accept: wanted },
    };
    const result = await prism.request(input, [operation], { ...config, mock: preference })();
    if (result._tag === 'Left') throw refused(result.left);
    const { statusCode, headers = {}, body } = result.right.output;
    const { 'Content-type': contentType, ...others } = headers;
    const hasBody = body !== undefined && verb !== 'HEAD';
    return {
      status: statusCode,
      contentType: hasBody && contentType !== undefined ? contentType : null,
      headers: Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)])),
      body: hasBody ? JSON.stringify(body) : undefined,
    };
  };
}

/** Converts an error of Prism: a preference that the contract cannot fulfil is the request's fault. */
function refused(problem: Error): Error {
  return problem instanceof ProblemJsonError ? Invalid(`Prefer: ${problem.detail}`) : problem;
}

/**
 * The document in the form that Prism needs: sealed objects in the older keyword that it understands, and only the nearest
 * example of each schema, since Prism takes the first.
 */
function forPrism(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forPrism);
  if (typeof node !== 'object' || node === null) return node;
  const { unevaluatedProperties: open, ...rest } = node as Record<string, unknown>;
  const copy = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, key === 'examples' ? nearest(value) : forPrism(value)]),
  );
  const composed = ['allOf', 'anyOf', 'oneOf', '$ref'].some((key) => key in rest);
  return JSON.stringify(open) === '{"not":{}}' && !composed ? { ...copy, additionalProperties: false } : copy;
}

/** Examples of a schema are a list. Examples of a body are named and are all kept. */
const nearest = (examples: unknown): unknown => (Array.isArray(examples) ? examples.slice(-1) : examples);
