import { expect, test } from 'vitest';
import { scanText } from '../testing.ts';
import type { EngineFinding } from '../types.ts';
import attacks from './attacks.json' with { type: 'json' };
import benign from './attacks-benign.json' with { type: 'json' };

const leastRecall = 0.85;
const leastPassed = 0.99;

const isAttack = ({ layer, action }: EngineFinding) => layer === 'instinct' && action === 'block';

test('most attacks of the corpus are blocked', async () => {
  const missed: string[] = [];
  for (const text of attacks.attacks) {
    const { findings, decision } = await scanText(text);
    if (!findings.some(isAttack) || decision !== 'block') missed.push(text);
  }
  const recall = 1 - missed.length / attacks.attacks.length;
  expect(recall, `missed: ${missed.join('\n')}`).toBeGreaterThanOrEqual(leastRecall);
});

test('texts that only talk about instructions, passwords and attacks pass', async () => {
  const stopped: string[] = [];
  for (const text of benign.texts) {
    const { findings } = await scanText(text);
    const wrong = findings.filter(({ layer }) => layer !== 'awareness');
    if (wrong.length > 0) stopped.push(`${text} ${JSON.stringify(wrong)}`);
  }
  const passed = 1 - stopped.length / benign.texts.length;
  expect(passed, `stopped: ${stopped.join('\n')}`).toBeGreaterThanOrEqual(leastPassed);
});

test('attacks in the midst of a long harmless text are found as well', async () => {
  const around = benign.texts.slice(0, 60).join(' ');
  const sample = attacks.attacks.filter((_, index) => index % 10 === 0);
  let found = 0;
  for (const attack of sample) {
    const { findings } = await scanText(`${around}\n${attack}\n${around}`);
    if (findings.some(isAttack)) found++;
  }
  expect(found / sample.length).toBeGreaterThanOrEqual(leastRecall);
});

test('a long harmless text does not become an attack by its length', async () => {
  const between = `\n${'The weather was fine and the train arrived on time. '.repeat(12)}\n`;
  const { findings } = await scanText(benign.texts.join(between));
  expect(findings.filter(isAttack)).toEqual([]);
});
