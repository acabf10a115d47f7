import { describe, expect, it } from 'vitest';
import type { VerifyReport } from '../../../../generated/audit/types.ts';
import { nothingVerified } from '../verification/verifier.ts';
import { type Facts, findingsOf } from './findings.ts';
import type { StoredSection } from './reports.store.ts';

const verification: VerifyReport = { ...nothingVerified('stream', Buffer.alloc(32)), verified: 10 };
const section = (total: number, denied = 0): StoredSection => ({
  ...{
    title: 'Access',
    control: 'CC6.1',
    notes: '',
    top_actions: [],
    daily: [],
    sequences: [],
    events_truncated: false,
  },
  stats: {
    ...{ total, persons: 0, first_at: null, last_at: null },
    by_outcome: { success: total - denied, failure: 0, denied },
    by_severity: { info: total, warning: 0, critical: 0 },
  },
});
const facts = (changes: Partial<Facts> = {}): Facts => ({
  ...{
    verification,
    sections: [section(100, 5)],
    isKnown: true,
    purged: { count: 0, isExact: true, ofSections: [0, 0] },
    criticalEvents: 0,
    failedSignIns: { named: [], count: 0 },
    signInControl: 'CC6.2',
  },
  quietDays: { named: [], count: 0 },
  ...changes,
});

describe('findings', () => {
  it('are none when there is nothing to review', () => expect(findingsOf(facts())).toEqual([]));

  it.each<[string, Partial<Facts>, object]>([
    [
      'a chain that is not intact',
      { verification: { ...verification, valid: false, gap_count: 2, tampered_count: 3 } },
      { severity: 'critical', control: null, count: 5, text: expect.stringContaining('not intact') },
    ],
    ['a chain that was not verified', { verification: null }, { severity: 'info', control: null, count: 1 }],
    ['critical events', { criticalEvents: 2 }, { severity: 'critical', text: '2 critical events', count: 2 }],
    [
      'failed sign-ins',
      { failedSignIns: { named: [12], count: 1 } },
      {
        severity: 'warning',
        control: 'CC6.2',
        text: '12 failed sign-ins of one person within an hour',
        count: 1,
      },
    ],
    [
      'many denied events',
      { sections: [section(100, 6)] },
      { severity: 'warning', control: 'CC6.1', text: 'Access: 6 of 100 events were denied', count: 6 },
    ],
    [
      'an empty section',
      { sections: [section(0)] },
      { severity: 'info', control: 'CC6.1', text: 'Access: no evidence' },
    ],
    [
      'persons with failed sign-ins beyond those that are named',
      { failedSignIns: { named: [], count: 7 } },
      { severity: 'warning', text: 'many failed sign-ins of 7 more persons', count: 7 },
    ],
    [
      'a tenant for which nothing was ever recorded',
      { isKnown: false },
      { severity: 'warning', text: 'nothing was ever recorded for this tenant' },
    ],
    [
      'events that were purged',
      { purged: { count: 3, isExact: true, ofSections: [3] } },
      { severity: 'info', text: '3 events of the period were purged', count: 3 },
    ],
    [
      'a day without events',
      { quietDays: { named: ['2026-01-02'], count: 1 } },
      { severity: 'info', control: null, text: 'no events on 2026-01-02', count: 1 },
    ],
  ])('name %s', (_, changes, found) => expect(findingsOf(facts(changes))).toMatchObject([found]));

  it('do not say that there was no evidence where some may have been purged', () => {
    const purged = { count: 5, isExact: false, ofSections: [5, 0] };
    expect(findingsOf(facts({ sections: [section(0), section(0)], purged })).map(({ text }) => text)).toEqual(
      [
        'up to 5 events of the period were purged',
        'Access: no evidence is left, up to 5 events were purged',
        'Access: no evidence',
      ],
    );
  });

  it('count the days beyond those that are named', () => {
    const named = ['2026-01-02', '2026-01-03'];
    expect(findingsOf(facts({ quietDays: { named, count: 9 } })).map(({ text }) => text)).toEqual([
      'no events on 2026-01-02',
      'no events on 2026-01-03',
      'no events on 7 more days',
    ]);
  });

  it('begin with the most severe', () => {
    const found = findingsOf(facts({ sections: [section(0), section(10, 9)], criticalEvents: 1 }));
    expect(found.map(({ severity }) => severity)).toEqual(['critical', 'warning', 'info']);
  });
});
