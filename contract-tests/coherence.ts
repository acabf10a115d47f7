/** Functions that take examples apart and compare them. */

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a value, if it is an object, and all objects within it. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

/** Returns a value, if it is a text, and all texts within it. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Returns the message for people in an error envelope of any service. */
export function sentenceOf(envelope: unknown): unknown {
  if (!isObject(envelope)) return undefined;
  const { error, message } = envelope;
  return isObject(error) ? sentenceOf(error) : (error ?? message);
}

/**
 * Returns the differences of two values in the members that both have. A null that was sent left the value to the server, and
 * times have several spellings.
 */
export function overlap(sent: unknown, answered: unknown, path = ''): string[] {
  if (sent === null || answered === undefined) return [];
  if (isObject(sent) && isObject(answered)) {
    const both = Object.keys(sent).filter((name) => name in answered);
    return both.flatMap((name) => overlap(sent[name], answered[name], `${path}/${name}`));
  }
  if (Array.isArray(sent) && Array.isArray(answered) && sent.length === answered.length)
    return sent.flatMap((item, at) => overlap(item, answered[at], `${path}/${at}`));
  if (sent === answered || isSameMoment(sent, answered)) return [];
  return [`${path} ${JSON.stringify(sent)} is answered with ${JSON.stringify(answered)}`];
}

const isSameMoment = (one: unknown, other: unknown): boolean =>
  typeof one === 'string' && typeof other === 'string' && Date.parse(one) === Date.parse(other);
