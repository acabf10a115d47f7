/**
 * The audit log: keeps what happened so that changing, dropping or inventing an event shows, and lets a person be forgotten and old data
 * expire all the same.
 *
 * Terminology:
 * - Event: one thing that happened. Stream: the events of one tenant and app, numbered without gaps.
 * - Record: the canonical JSON of an event that is hashed (RECORD.md). Parts: what it says of persons, encrypted beside it.
 * - Chain: every record contains the hash of the one before. Head: the last number and hash of a stream.
 * - Person: the actor or the subject of events, with a key that encrypts their parts. Erasure: the destruction of that key.
 * - Ref: what stands for a person or a resource in the columns by which events are found.
 * - Run: events that a retention policy purged together; of each its number and hash remain.
 */
import { join } from 'node:path';
import type { Service, ServiceModule } from '../../http/service.ts';
import { createIntake } from './append/intake.ts';
import { platformEvents } from './append/platform-events.ts';
import { keySweep } from './append/sweeps.ts';
import type { Deps } from './deps.ts';
import { erasures } from './erasures/erasures.ts';
import { markingSweep } from './erasures/marking.ts';
import { encodeError } from './errors.ts';
import { events } from './events/events.ts';
import { streams } from './events/streams.ts';
import { personKeySweeps } from './keys/persons.ts';
import { reports } from './reports/reports.ts';
import { archiveFiles } from './retention/archive-files.ts';
import { draftSweep } from './retention/archiving.ts';
import { retention, retentionSweeps } from './retention/retention.ts';
import { settings } from './settings.ts';
import { stats } from './statistics.ts';
import { createKnownStreams, indexKeySweeps } from './streams/known-streams.ts';
import { verification } from './verification/verification.ts';
import { createWriter } from './writes.ts';

export const audit: ServiceModule<typeof settings> = {
  name: 'audit',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  create({ db, settings, sealer, dataDir, log }): Service {
    const { idempotencyMs, queue, batch, archive } = settings;
    const known = createKnownStreams({ db, sealer });
    const intake = createIntake({ db, sealer, idempotencyMs, mostWaiting: queue, mostTogether: batch });
    const write = createWriter({ db, sealer, idempotencyMs, known });
    const deps: Deps = { db, sealer, settings, log, known, intake, write };
    const files = archive === 'none' ? undefined : archiveFiles(join(dataDir, 'audit-archives'));
    return {
      handlers: {
        Erasures: erasures(deps),
        Events: events(deps),
        Reports: reports(deps),
        Retention: retention({ ...deps, files }),
        Stats: stats(deps),
        Streams: streams(deps),
        Verification: verification(deps),
      },
      encodeError,
      sweeps: [
        keySweep(deps),
        markingSweep(deps),
        ...personKeySweeps(deps),
        ...indexKeySweeps(deps),
        ...(files === undefined ? [] : [draftSweep(deps, files)]),
        ...retentionSweeps({ ...deps, files }),
      ],
      outbox: {},
      consumers: [platformEvents(deps)],
      queues: intake.queues,
      stop: () => intake.close(),
    };
  },
};
