import type { InvoiceText } from '../content/invoice-text.ts';
import type { Party } from '../content/parties.ts';
import type { Standing } from '../content/standing.ts';
import type { Pause } from '../pace.ts';
import { colors, type Item, leading, sheet, styles } from './page.ts';
import { type Setting, stacked } from './setting.ts';

/** What is above the table: items that begin at the top of the first page, and where they end. */
export interface Head {
  readonly items: readonly Item[];
  readonly bottom: number;
}

const columnWidth = 226;
/** The right half begins here. */
const middle = sheet.left + 276;
const labelWidth = 92;
const valueWidth = sheet.right - middle - labelWidth;

/** The lines that one entry may take, so that the longest names and addresses leave room for the table. */
const mostLines = { name: 3, address: 2, value: 2 };

const tones: Readonly<Record<Standing['tone'], string>> = {
  neutral: colors.quiet,
  open: colors.accent,
  good: colors.good,
  bad: colors.warning,
};

/** Sets the title, the two parties, the facts and the headline. */
export async function headOf(text: InvoiceText, setting: Setting, pause: Pause): Promise<Head> {
  const title = titleOf(text, setting);
  const seller = await partyOf(text.seller, sheet.top + 10, setting, pause);
  const partiesTop = Math.max(title.bottom, seller.bottom) + 26;
  const billed = await billedOf(text, partiesTop, setting, pause);
  const facts = factsOf(text, partiesTop, setting);
  const headlineTop = Math.max(billed.bottom, facts.bottom) + 30;
  const headline = headlineOf(text, headlineTop, setting);
  return {
    items: [title, seller, billed, facts, headline].flatMap(({ items }) => items),
    bottom: headline.bottom,
  };
}

function titleOf({ number, standing }: InvoiceText, setting: Setting): Head {
  const baseline = sheet.top + 18;
  const word = setting.measure(standing.word, styles.caption);
  const pill = { width: word + 14, height: 14 };
  const pillX = middle + setting.measure('Invoice', styles.title) + 12;
  const color = tones[standing.tone];
  return {
    items: [
      { kind: 'text', text: 'Invoice', x: middle, baseline, style: styles.title },
      { kind: 'pill', x: pillX, y: baseline - 12, ...pill, color },
      {
        ...{ kind: 'text', text: standing.word, x: pillX + 7, baseline: baseline - 2.2 },
        style: { ...styles.caption, color: '#ffffff' },
      },
      {
        kind: 'text',
        text: number ?? 'No number yet',
        x: middle,
        baseline: baseline + 18,
        style: { ...styles.name, color: colors.quiet },
      },
    ],
    bottom: baseline + 18,
  };
}

async function partyOf(
  { name, lines }: Party,
  baseline: number,
  setting: Setting,
  pause: Pause,
): Promise<Head> {
  const names = setting.clamped(name, columnWidth, mostLines.name, styles.name);
  const below = baseline + names.length * leading(styles.name.size);
  const rest: string[] = [];
  for (const line of lines) {
    rest.push(...setting.clamped(line, columnWidth, mostLines.address, styles.quiet));
    await pause();
  }
  return {
    items: [
      ...stacked(names, sheet.left, styles.name, baseline),
      ...stacked(rest, sheet.left, styles.quiet, below),
    ],
    bottom: below + Math.max(rest.length - 1, 0) * leading(styles.quiet.size),
  };
}

async function billedOf({ billTo }: InvoiceText, top: number, setting: Setting, pause: Pause): Promise<Head> {
  if (billTo === null) return { items: [], bottom: top };
  const party = await partyOf(billTo, top + 18, setting, pause);
  return {
    items: [
      { kind: 'text', text: 'BILLED TO', x: sheet.left, baseline: top, style: styles.caption },
      ...party.items,
    ],
    bottom: party.bottom,
  };
}

function factsOf({ facts }: InvoiceText, top: number, setting: Setting): Head {
  const items: Item[] = [];
  let baseline = top;
  for (const [label, value] of facts) {
    const values = setting.clamped(value, valueWidth, mostLines.value, styles.text);
    items.push({ kind: 'text', text: label, x: middle, baseline, style: styles.quiet });
    items.push(...stacked(values, middle + labelWidth, styles.text, baseline));
    baseline += values.length * leading(styles.text.size) + 2;
  }
  return { items, bottom: baseline - leading(styles.text.size) };
}

function headlineOf({ headline, standing }: InvoiceText, top: number, setting: Setting): Head {
  const baseline = top + 12;
  const x = sheet.left + setting.measure(headline.amount, styles.headline) + 9;
  return {
    items: [
      { kind: 'text', text: headline.amount, x: sheet.left, baseline, style: styles.headline },
      {
        ...{ kind: 'text', text: headline.remark, x, baseline },
        style: { ...styles.name, weight: 'regular', color: tones[standing.tone] },
      },
    ],
    bottom: baseline,
  };
}
