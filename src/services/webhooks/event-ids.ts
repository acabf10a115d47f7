import { idTime, newId } from '../../lib/ids.ts';

/** A new event: its id, and the moment of its acceptance, which is the millisecond inside the id. */
export function newEventId(): { readonly id: string; readonly created_at: Date } {
  const id = newId('evt');
  return { id, created_at: new Date(idTime(id)) };
}

const prefixLength = 'evt_'.length + 10;
const latestMs = 2 ** 48 - 1;

/** The least id that an event of this moment or a later one can have, so that a period of events is a range of ids. */
export const firstIdAt = (moment: string): string =>
  newId('evt', Math.min(Math.max(0, Date.parse(moment)), latestMs)).slice(0, prefixLength);
