import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The path of Chromium: `PLINTH_CHROMIUM`, else the first of the usual names on PATH. */
export function findChromium(): string | undefined {
  const { PLINTH_CHROMIUM: given, PATH = '' } = process.env;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const found = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return (given ? [given] : found).find(executable);
}

export const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: flags });

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
