const name = String.raw`[\p{L}\p{N} _-]*`;
const font = new RegExp(`^ *("${name}"|'${name}'|${name}) *$`, 'u');

/** Accepts font names, quoted or not, and commas: nothing that could end the CSS declaration around it. */
export const isFontFamily = (text: string): boolean => text.split(',').every((part) => font.test(part));
