/** Kinds of content types, by what is done with the content. */
export const isJson = (type: string) => /^application\/([\w.-]+\+)?json$/.test(type);
export const isForm = (type: string) => type === 'application/x-www-form-urlencoded';

/** `text/html` of `Text/HTML; charset=utf-8`. */
export const bareType = (type: string) => type.split(';', 1)[0]!.trim().toLowerCase();

/** The range of a list that covers a type: itself, or the one that covers everything. */
export const covering = (ranges: readonly string[], type: string) =>
  ranges.find((range) => range === type) ?? ranges.find((range) => range === '*/*');
