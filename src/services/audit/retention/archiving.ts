import type { Sweep } from '../../../db/sweeps.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../deps.ts';
import { eventStore } from '../events/events.store.ts';
import { storedRecord } from '../events/views.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { type ArchiveDraft, archiveDraftStore } from './archive-drafts.store.ts';
import type { ArchiveFile, ArchiveFiles } from './archive-files.ts';
import type { DueEvent } from './purge.store.ts';

/** An archive that is written, and not yet part of what is committed. */
export interface WrittenArchive {
  readonly draft: ArchiveDraft;
  readonly file: ArchiveFile;
}

/**
 * Writes events to a file. That it is being written is committed first: when the process dies before its events are purged, the next one
 * may archive others with them under another name, and nobody would know of this file.
 */
export async function written(
  { db }: Pick<Deps, 'db'>,
  files: ArchiveFiles,
  stream: KnownStream,
  due: readonly DueEvent[],
): Promise<WrittenArchive> {
  const draft = { tenant_id: stream.tenant, id: newId('draft'), place: placeOf(stream, due) };
  await archiveDraftStore(db.background).put(draft);
  return { draft, file: await files.write(draft.place, archiveLines({ db }, stream, due)) };
}

/** The events to archive, as they are stored: personal data in them stays encrypted. */
async function* archiveLines({ db }: Pick<Deps, 'db'>, stream: KnownStream, due: readonly DueEvent[]) {
  const pageSize = 200;
  for (let at = 0; at < due.length; at += pageSize) {
    const sequences = due.slice(at, at + pageSize).map(({ sequence }) => sequence);
    for (const row of await eventStore(db.background).numbered(stream, sequences)) yield storedRecord(row);
  }
}

const placeOf = ({ tenant, app, id }: KnownStream, due: readonly DueEvent[]): string => {
  const number = (event: DueEvent) => String(event.sequence).padStart(12, '0');
  return `${folderOf(app)}/${folderOf(tenant)}/${id}/${number(due[0]!)}-${number(due.at(-1)!)}`;
};

/** A name of dots would mean another folder. */
const folderOf = (name: string): string => (/^\.+$/.test(name) ? name.replaceAll('.', '%2E') : name);

/** Milliseconds after which a draft counts as interrupted. One that is only slow purges nothing then, and is repeated. */
const interruptedMs = 3_600_000;

/** Removes the files of archives that were interrupted. */
export const draftSweep = ({ db }: Pick<Deps, 'db'>, files: ArchiveFiles): Sweep => ({
  name: 'audit.archive_drafts',
  everyMs: interruptedMs,
  batch: 100,
  steps: [
    (most) => archiveDraftStore(db.background).giveUp(interruptedMs, most),
    (most) =>
      db.transaction(async (sql) => {
        const store = archiveDraftStore(sql);
        const drafts = await store.takeGivenUp(most);
        for (const draft of drafts) await files.remove(draft.place, await store.archived(draft));
        return drafts.length;
      }),
  ],
});
