/** Kinds of content types, by how the content is processed. */
export const isJson = (type: string) => /^application\/([\w.-]+\+)?json$/.test(type);
export const isForm = (type: string) => type === 'application/x-www-form-urlencoded';

/** Strips parameters and lowers case: `Text/HTML; charset=utf-8` becomes `text/html`. */
export const bareType = (type: string) => type.split(';', 1)[0]!.trim().toLowerCase();

/** Returns the media range of a list that covers a type: the type itself, else the wildcard range. */
export const covering = (ranges: readonly string[], type: string) =>
  ranges.find((range) => range === type) ?? ranges.find((range) => range === '*/*');
