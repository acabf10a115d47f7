/** What CSS of a tenant's own may not hold: it could load, run or hide something on a page that asks for passwords. */
const forbidden = ['url(', '@import', 'expression', '\\', '<'];

/** The first thing in the CSS that may not be there; undefined where it is harmless. Case and comments hide nothing. */
export function forbiddenInCss(css: string): string | undefined {
  const bare = css.replaceAll(/\/\*.*?(\*\/|$)/gs, '').toLowerCase();
  return forbidden.find((word) => bare.includes(word) || css.toLowerCase().includes(word));
}

/** Font names, quotes, commas: nothing that could end the declaration that it is put into. */
export const isFontFamily = (text: string): boolean => /^[\p{L}\p{N} ,'"_-]*$/u.test(text);
