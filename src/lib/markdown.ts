/**
 * Escapes text for Markdown (CommonMark and GitHub's tables), so that it shows as it is: it formats nothing, embeds no HTML, hides no
 * address behind other words and begins no block. Some renderers still make a mail address a link to itself. Line breaks become
 * spaces, because a line could begin a heading or a list.
 */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replaceAll(/\s*[\r\n\u2028\u2029]+\s*/g, ' ')
      .trim()
      .replaceAll(/[\\`*_{}[\]()<>#|~!&$^]/g, (character) => `\\${character}`)
      // In the link that a bare address becomes, the backslashes above would show.
      .replaceAll(/(https?|ftp|mailto|xmpp):/gi, '$1\\:')
      .replaceAll(/www\./gi, (start) => `${start.slice(0, -1)}\\.`)
      // Markers of lists and underlines count at the start of a line only.
      .replace(/^[-+=:]/, (character) => `\\${character}`)
      .replace(/^(\d+)([.)])/, '$1\\$2')
  );
}

/** Escapes text for a cell of a Markdown table; an empty text becomes a dash, so that the cell stays visible. */
export const markdownCell = (text: string): string => escapeMarkdown(text) || '–';
