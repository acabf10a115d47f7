/** Chooses one of several documented content types for an answer. */

/** Abbreviations that path parameters use for content types. */
const shortened: Readonly<Record<string, string>> = { js: 'javascript', txt: 'plain' };

/** Returns the content type that the path names (`/export/csv`, `/assets/app.css`), else the one that `Accept` prefers, else the first. */
export function contentTypeFor(
  types: readonly string[],
  accept: string | undefined,
  params: Readonly<Record<string, string>>,
): string | undefined {
  if (types.length < 2) return types[0];
  const named = Object.values(params).map((value) => value.split('.').at(-1) ?? '');
  const subtypes = new Set(named.map((ending) => shortened[ending] ?? ending));
  return types.find((type) => subtypes.has(type.split('/')[1] ?? '')) ?? liked(types, accept);
}

function liked(types: readonly string[], accept = '*/*'): string | undefined {
  const wishes = accept.split(',').map((wish) => {
    const [range = '', ...parameters] = wish.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
  });
  const weightOf = (type: string) => {
    const [family] = type.split('/');
    const [best] = [type, `${family}/*`, '*/*'].flatMap((range) =>
      wishes.filter((wish) => wish.range === range),
    );
    return best?.weight ?? 0;
  };
  // Sorting keeps the document's order among equals.
  return types.toSorted((one, other) => weightOf(other) - weightOf(one))[0];
}
