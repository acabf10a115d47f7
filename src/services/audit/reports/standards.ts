/** Which events a section of a report shows. Lists are alternatives; an empty one means all. */
export interface SectionFilter {
  readonly categories?: readonly string[];
  /** Actions, in which `*` stands for any run of characters. */
  readonly actions?: readonly string[];
  readonly severities?: readonly string[];
  readonly outcomes?: readonly string[];
}

/** A section that is to be computed. */
export interface SectionPlan extends SectionFilter {
  readonly title: string;
  /** The control of the standard that it supports; null in custom reports. */
  readonly control: string | null;
  readonly notes: string;
}

/** A standard that reports follow. */
export interface Standard {
  readonly title: string;
  /** The control that many failed sign-ins of one person concern. */
  readonly signInControl: string | null;
  readonly sections: readonly SectionPlan[];
}

const signIns = ['user.*', 'session.*', 'mfa*', 'sign*', 'password*', 'login*', 'logout*'];
const incidents = ['warning', 'critical'];
const models = ['ai', 'ml'];

export const standards = {
  soc2: {
    title: 'SOC 2 Type II evidence',
    signInControl: 'CC6.2',
    sections: [
      {
        title: 'Logical access',
        control: 'CC6.1',
        notes: 'Who reached what, and who was refused.',
        categories: ['auth', 'access'],
      },
      {
        title: 'Registration and authentication',
        control: 'CC6.2',
        notes: 'How people were registered, and how they signed in.',
        categories: ['auth'],
        actions: signIns,
      },
      {
        title: 'Access to data',
        control: 'CC6.3',
        notes: 'Who read and changed data.',
        categories: ['data'],
      },
      {
        title: 'Security incidents',
        control: 'CC7.2',
        notes: 'What needed review or action.',
        severities: incidents,
      },
      {
        title: 'Change management',
        control: 'CC8.1',
        notes: 'Changes of the configuration, and deployments.',
        categories: ['config', 'deployment'],
      },
    ],
  },
  hipaa: {
    title: 'HIPAA audit report',
    signInControl: '§164.312(d)',
    sections: [
      {
        title: 'PHI access',
        control: '§164.312(b)',
        notes: 'Who read and changed health data.',
        categories: ['data'],
      },
      {
        title: 'Authentication',
        control: '§164.312(d)',
        notes: 'How people and programs proved who they are.',
        categories: ['auth'],
      },
      {
        title: 'Security incidents',
        control: '§164.308(a)(6)',
        notes: 'What needed review or action.',
        severities: incidents,
      },
      {
        title: 'Disposal',
        control: '§164.310(d)(2)',
        notes: 'What was deleted, purged or erased.',
        actions: ['*.deleted', '*.purged', 'delete', 'purge', 'erasure.*'],
      },
    ],
  },
  euaiact: {
    title: 'EU AI Act transparency report',
    signInControl: null,
    sections: [
      {
        title: 'Record keeping',
        control: 'Art. 12',
        notes: 'What the system did, and when.',
        categories: models,
      },
      {
        title: 'Decisions',
        control: 'Art. 13',
        notes: 'Decisions and predictions of the system.',
        actions: ['decision*', 'prediction*', 'run.*', 'scan.*'],
      },
      {
        title: 'Incidents',
        control: 'Art. 15, 73',
        notes: 'What needed review or action.',
        categories: models,
        severities: incidents,
      },
      {
        title: 'Data governance',
        control: 'Art. 10',
        notes: 'Who read and changed data.',
        categories: ['data'],
      },
      {
        title: 'Human oversight',
        control: 'Art. 14',
        notes: 'Where people reviewed, overrode or approved.',
        actions: ['review*', 'override*', 'approval*', 'checkpoint.*'],
      },
    ],
  },
} as const satisfies Readonly<Record<string, Standard>>;

export type StandardName = keyof typeof standards;
