import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { profile, scanText } from '../testing.ts';
import families from './attack-families.json' with { type: 'json' };
import { everyday } from './everyday.ts';

/** One harmless text in so many may be blocked. */
const harmlessPerBlock = 500;
/** Longer files are read as far as this. */
const longestText = 20_000;
/** What can block in the default profile. */
const blocking = { ...profile('default'), awareness: [] };

/** The attacks of each family that may be missed: those that never were found. */
const missed: Readonly<Record<string, number>> = {
  danger: 1,
  disguised: 1,
  jailbreak: 3,
  'leak.en': 1,
  tools: 2,
};

async function blocked(texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const text of texts) {
    const { decision, findings } = await scanText(text, blocking);
    if (decision !== 'block') continue;
    const rules = findings.filter(({ action }) => action === 'block').map(({ details }) => details['rules']);
    found.push(`${text.slice(0, 200)} ${JSON.stringify(rules)}`);
  }
  return found;
}

/** The files of the packages that this project uses. */
const files = readdirSync('node_modules', { recursive: true, encoding: 'utf8' });

/** The different texts of the files with such names. */
function textsOf(name: RegExp): string[] {
  const paths = files.filter((file) => name.test(basename(file))).map((file) => join('node_modules', file));
  const texts = paths
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8').slice(0, longestText));
  return [...new Set(texts)].sort();
}

function mostBlocked(texts: readonly string[]): number {
  expect(texts.length).toBeGreaterThan(harmlessPerBlock);
  return Math.floor(texts.length / harmlessPerBlock);
}

test('requests, mails, manuals and laws of every day pass', async () => {
  const texts = [...new Set(Object.values(everyday).flat())];
  const most = mostBlocked(texts);
  expect((await blocked(texts)).slice(most)).toEqual([]);
});

test('the documentation of the packages that this project uses passes', async () => {
  const texts = textsOf(/^readme\.md$/i);
  const most = mostBlocked(texts);
  expect((await blocked(texts)).slice(most)).toEqual([]);
});

test('their licences pass', async () => {
  const texts = textsOf(/^(?:licen[cs]e|copying|notice)(?:[.-](?:md|txt|mit|apache|bsd))?$/i);
  expect(texts.length).toBeGreaterThan(100);
  expect(await blocked(texts)).toEqual([]);
});

test.each(Object.entries(families))(
  'of the attacks of the family %s no fewer are blocked than ever',
  async (name, attacks) => {
    const stopped = await blocked(attacks);
    const passed = attacks.filter((text) => !stopped.some((line) => line.startsWith(text.slice(0, 200))));
    expect(passed.slice(missed[name] ?? 0)).toEqual([]);
  },
);
