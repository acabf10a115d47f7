import type PDFDocument from 'pdfkit';
import type { Standing } from './content/standing.ts';
import { colors, type Item, type Page, sheet } from './layout/page.ts';
import type { Pause } from './pace.ts';
import type { Style, Typesetter } from './typesetter.ts';

type Pdf = InstanceType<typeof PDFDocument>;

/** Draws the pages of an invoice. */
export async function drawPages(
  pdf: Pdf,
  typesetter: Typesetter,
  pages: readonly Page[],
  { mark }: Pick<Standing, 'mark'>,
  pause: Pause,
): Promise<void> {
  for (const { items } of pages) {
    pdf.addPage();
    pdf.rect(0, 0, sheet.width, 5).fill(colors.accent);
    for (const item of items) {
      drawItem(pdf, typesetter, item);
      await pause();
    }
    if (mark !== null) drawMark(pdf, typesetter, mark);
  }
}

function drawItem(pdf: Pdf, typesetter: Typesetter, item: Item): void {
  switch (item.kind) {
    case 'text':
      typesetter.draw(item.text, item.x, item.baseline, item.style);
      break;
    case 'rule':
      pdf.moveTo(item.from, item.y).lineTo(item.to, item.y).lineWidth(item.thickness).stroke(item.color);
      break;
    case 'pill':
      pdf.roundedRect(item.x, item.y, item.width, item.height, item.height / 2).fill(item.color);
      break;
  }
}

/** The length of the word across a page, and the largest size of its letters. */
const markLength = 620;
const mostMarkSize = 190;
/** How far the middle of its letters is above their baseline, for a size of one. */
const capitalsCenter = 0.36;

/** Writes a word across the page. It is drawn last and lets everything below it shine through, so that it cannot be overlooked. */
function drawMark(pdf: Pdf, typesetter: Typesetter, mark: string): void {
  const plain: Style = { size: 1, weight: 'strong', color: colors.warning };
  const size = Math.min(mostMarkSize, markLength / typesetter.widthOf(mark, plain));
  const [x, y] = [sheet.width / 2, sheet.height / 2];
  pdf.save();
  pdf.rotate(-54, { origin: [x, y] }).fillOpacity(0.13);
  const left = x - (typesetter.widthOf(mark, plain) * size) / 2;
  typesetter.draw(mark, left, y + size * capitalsCenter, { ...plain, size });
  pdf.restore();
}
