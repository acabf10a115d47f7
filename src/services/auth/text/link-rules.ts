import { Invalid } from '../../../lib/errors.ts';

/** Separators of domain labels: the dot, and the characters that programs treat as one. */
const dots = '.\u3002\uff0e\uff61\u2024';

/** Matches a scheme with slashes, `www.` before anything, or a word with an inner dot and a possible domain ending (2 letters or more). */
const link = new RegExp(
  `:[/\\\\]{2}|\\bwww[${dots}](?=[^\\s${dots}])|[\\p{L}\\p{N}][${dots}](?:\\p{L}{2,}|xn--[a-z0-9-]+)(?![\\p{L}\\p{N}])`,
  'iu',
);

/** Messages quote names to people who do not know who chose them, and mail programs turn addresses into links. */
export function refuseLink(field: string, name: string): string {
  if (link.test(name)) throw Invalid(`${field}: must not contain a link`);
  return name;
}

/** Rewrites the name so that no program turns it into a link: it may predate the rule, or contain what the rule does not know. */
export const withoutLinks = (name: string): string =>
  name
    .replaceAll(/:(?=[/\\]{2})/g, ': ')
    .replaceAll(new RegExp(`(?<=[^\\s${dots}])[${dots}](?=[^\\s${dots}])`, 'gu'), '. ')
    .replaceAll('@', ' at ');
