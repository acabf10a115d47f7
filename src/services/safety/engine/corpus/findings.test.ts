import { expect, test } from 'vitest';
import { awareness, profile, scanText } from '../testing.ts';
import attacks from './attacks.json' with { type: 'json' };
import benign from './attacks-benign.json' with { type: 'json' };
import contents from './contents.json' with { type: 'json' };

/** The profile that finds the most, with all that packs are about; what blocks does not hide the rest. */
const everything = {
  ...profile('paranoid'),
  awareness: [
    { primitive: awareness({ name: 'topic', focus: 'topic', threshold: 0.3, action: 'flag' }) },
    { primitive: awareness({ name: 'intent', focus: 'intent', threshold: 0.3, action: 'flag' }) },
  ],
  short_circuit: false,
};

/**
 * A change of a pack fails here, and prints which findings appear and disappear, and whose scores change. `npx vitest run findings -u`
 * writes the new ones into the file, so that whoever reads the commit sees them too.
 */
test('the built-in rules find in the corpus what the file beside says', async () => {
  const lines: string[] = [];
  for (const text of [...attacks.attacks, ...contents.texts, ...benign.texts]) {
    const { decision, findings } = await scanText(text, everything);
    lines.push(`${decision} ${JSON.stringify(text)}`);
    for (const { layer, type, score, details } of findings)
      lines.push(`    ${[`${layer}/${type}`, score, ...((details['rules'] ?? []) as string[])].join(' ')}`);
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./findings.txt');
});
