import type { InvoiceText } from '../content/invoice-text.ts';
import type { Pause } from '../pace.ts';
import { headOf } from './head.ts';
import { colors, type Item, type Measure, type Page, sheet, styles } from './page.ts';
import { paginated } from './pagination.ts';
import { movedDown, Setting } from './setting.ts';
import { noteBlock, sumBlock, sumsGap } from './sums.ts';
import { columnsOf, emptyRow, rowsOf, type SetBlock, tableHead, tableHeadHeight } from './table.ts';

const headlineToTable = 30;

/** Lays an invoice out: which text goes where on which page. */
export async function layOut(text: InvoiceText, measure: Measure, pause: Pause): Promise<Page[]> {
  const setting = new Setting(measure);
  const head = await headOf(text, setting, pause);
  const columns = await columnsOf(text.charges, measure, pause);
  const blocks = await blocksOf(text, columns, setting, pause);
  const tops = { first: head.bottom + headlineToTable, later: sheet.top };
  const room = (top: number) => sheet.bottom - top - tableHeadHeight;
  const ranges = paginated(blocks, { first: room(tops.first), later: room(tops.later) });
  const names = tableHead(columns, setting);
  const pages: Page[] = [];
  for (const [from, to] of ranges) {
    const isFirst = pages.length === 0;
    const top = isFirst ? tops.first : tops.later;
    const here = blocks.slice(from, to);
    const items = [
      ...(isFirst ? head.items : []),
      ...(here.some(({ isRow }) => isRow) ? movedDown(names, top) : []),
      ...below(here, top + tableHeadHeight),
      ...footer(text, pages.length + 1, ranges.length, setting),
    ];
    pages.push({ items });
    await pause();
  }
  return pages;
}

/** Rows, sums and notes. The sums stay together with the last row, so that no page has sums without what they are of. */
async function blocksOf(
  { charges, sums, notes }: InvoiceText,
  columns: Parameters<typeof rowsOf>[1],
  setting: Setting,
  pause: Pause,
): Promise<SetBlock[]> {
  const rows: SetBlock[] = [];
  for (const charge of charges) {
    rows.push(...rowsOf(charge, columns, setting));
    await pause();
  }
  if (rows.length === 0) rows.push(emptyRow);
  const end = [rows.at(-1)!, sumsGap, ...sums.map((sum) => sumBlock(sum, setting))];
  return [
    ...rows.slice(0, -1),
    ...end.map((block) => ({ ...block, group: 'end' })),
    ...notes.map((note) => noteBlock(note, setting)),
  ];
}

function below(blocks: readonly SetBlock[], top: number): Item[] {
  const items: Item[] = [];
  let y = top;
  for (const block of blocks) {
    items.push(...movedDown(block.items, y));
    y += block.height;
  }
  return items;
}

function footer({ number, seller }: InvoiceText, page: number, pages: number, setting: Setting): Item[] {
  const baseline = sheet.bottom + 28;
  const whole = { right: sheet.right, width: 100 };
  const [name = ''] = setting.clamped(seller.name, 300, 1, styles.footer);
  return [
    { kind: 'rule', y: baseline - 15, from: sheet.left, to: sheet.right, color: colors.line, thickness: 0.5 },
    {
      kind: 'text',
      text: [number, name].filter(Boolean).join(' · '),
      x: sheet.left,
      baseline,
      style: styles.footer,
    },
    setting.toTheLeft(`${page} / ${pages}`, whole, baseline, styles.footer),
  ];
}
