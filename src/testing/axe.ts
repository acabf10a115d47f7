import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds on a page: the rule and the element, one line each. The page has to run scripts. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate<string[]>(`axe
    .run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))`);
}
