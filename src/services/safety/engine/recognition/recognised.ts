/** What the detectors are and what they return: the words that the engine and the detectors share. */

/** A recognised piece of personal data or a secret, in UTF-16 offsets of the text. */
export interface Recognised {
  /** The id of its detector. */
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
  /** What it is, without the value. */
  readonly message: string;
  /**
   * For placeholders, hashes and equality: an email in lower case; cards, IBANs and ids without separators and in upper case;
   * phones in E.164; else NFC.
   */
  readonly normalised: string;
}

export interface FormsRequest {
  readonly text: string;
  /** The ids of the detectors to look for, such as `pii.email`. The set must not change afterwards. */
  readonly detectors: ReadonlySet<string>;
  /** The country of national phone numbers, ISO 3166 alpha-2. */
  readonly region?: string | undefined;
  /** Further countries, which are tried where a word such as `Tel.` stands near a number. */
  readonly phoneRegions?: readonly string[] | undefined;
  /** Lets others run; called between slices of the work. */
  readonly pause?: () => Promise<void>;
}

/** A built-in recogniser, as the catalogue of the contract shows it. */
export interface Detector {
  readonly id: string;
  readonly focus: 'pii' | 'secrets';
  readonly description: string;
  readonly base_score: number;
  readonly validator: string | null;
  readonly context_words: readonly string[];
}

/** A detector of the catalogue, with the message of its findings. */
export interface Known {
  readonly detector: Detector;
  readonly message: string;
}

/** The description of a detector is its message as a title. */
export function known(message: string, detector: Omit<Detector, 'description'>): Known {
  return {
    message,
    detector: { ...detector, description: message.charAt(0).toUpperCase() + message.slice(1) },
  };
}
