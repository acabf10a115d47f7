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

/** Writes a word across the page. It is drawn last and lets everything below it shine through, so that it cannot be overlooked. */
function drawMark(pdf: Pdf, typesetter: Typesetter, mark: string): void {
  const style: Style = { size: 150, weight: 'strong', color: '#b3261e' };
  const [x, y] = [sheet.width / 2, sheet.height / 2];
  pdf.save();
  pdf.rotate(-52, { origin: [x, y] }).fillOpacity(0.14);
  typesetter.draw(mark, x - typesetter.widthOf(mark, style) / 2, y + style.size * 0.36, style);
  pdf.restore();
}
