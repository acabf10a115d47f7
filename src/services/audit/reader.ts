import type { Context } from '../../http/context.ts';
import { Forbidden } from '../../lib/errors.ts';

/** Whoever gets events may read them, whatever else the operation asks for. @throws Forbidden */
export function checkReader(context: Context): void {
  if (!context.holds('audit:read')) throw Forbidden('missing scope audit:read');
}
