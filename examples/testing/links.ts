/** The links and headings of a page, as GitHub reads them. */

/** The page without its blocks of code, in which nothing is a link or a heading. */
const prose = (text: string): string => text.replaceAll(/^```.*?^```$/gms, '');

/** The relative links of a page, with their anchors. */
export const linksOf = (text: string): string[] =>
  [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

/** The anchors of the headings. */
export function anchorsOf(text: string): Set<string> {
  const headings = [...prose(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}
