import type { Browser, Page } from 'playwright-core';

export interface Look {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
  readonly scripts?: boolean;
}

/** Opens an empty page, and records its error messages and the origins of its requests. */
export async function emptyPage(
  browser: Browser,
  { width = 1280, scheme = 'light', scripts = true }: Look = {},
) {
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    javaScriptEnabled: scripts,
  });
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (/^(https?|wss?):/.test(request.url())) origins.add(new URL(request.url()).origin);
  });
  // A schema library inside Scalar tests whether it may compile code, and works without that when it may not.
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    if (blockedURI !== 'eval') console.error('refused', violatedDirective, blockedURI);
  })`);
  return { page, complaints, origins };
}

/** Whether the page is no wider than the window. */
export const fits = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
