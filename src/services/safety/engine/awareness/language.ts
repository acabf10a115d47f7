import { francAll } from 'franc-min';

const fewestLetters = 20;
/** How much likelier than the next language the best guess has to be. */
const leastMargin = 0.1;
/** A longer text is judged by its beginning, as the library does. */
const longestSample = 2_048;

/** The two-letter codes of the languages that the library tells apart. */
const codes: Readonly<Record<string, string>> = {
  afr: 'af',
  amh: 'am',
  arb: 'ar',
  azj: 'az',
  bel: 'be',
  ben: 'bn',
  bul: 'bg',
  cat: 'ca',
  ces: 'cs',
  cmn: 'zh',
  dan: 'da',
  deu: 'de',
  ell: 'el',
  eng: 'en',
  fin: 'fi',
  fra: 'fr',
  guj: 'gu',
  hau: 'ha',
  heb: 'he',
  hin: 'hi',
  hrv: 'hr',
  hun: 'hu',
  ibo: 'ig',
  ind: 'id',
  ita: 'it',
  jav: 'jv',
  jpn: 'ja',
  kan: 'kn',
  kaz: 'kk',
  khm: 'km',
  kor: 'ko',
  lav: 'lv',
  lit: 'lt',
  mal: 'ml',
  mar: 'mr',
  mya: 'my',
  nld: 'nl',
  nob: 'nb',
  npi: 'ne',
  pan: 'pa',
  pes: 'fa',
  plt: 'mg',
  pol: 'pl',
  por: 'pt',
  ron: 'ro',
  run: 'rn',
  rus: 'ru',
  sin: 'si',
  slk: 'sk',
  slv: 'sl',
  som: 'so',
  spa: 'es',
  srp: 'sr',
  sun: 'su',
  swe: 'sv',
  swh: 'sw',
  tam: 'ta',
  tel: 'te',
  tgl: 'tl',
  tha: 'th',
  tur: 'tr',
  ukr: 'uk',
  urd: 'ur',
  uzn: 'uz',
  vie: 'vi',
  yor: 'yo',
  zlm: 'ms',
  zul: 'zu',
  nya: 'ny',
  kin: 'rw',
  quy: 'qu',
  uig: 'ug',
  lao: 'lo',
  kat: 'ka',
  hye: 'hy',
};

export interface Language {
  readonly code: string;
  /** From 0 to 1. */
  readonly score: number;
}

/** The likeliest language of a text; undefined when the text is too short or the guess is uncertain. */
export function languageOf(text: string): Language | undefined {
  const sample = text.slice(0, longestSample);
  if ((sample.match(/\p{L}/gu)?.length ?? 0) < fewestLetters) return undefined;
  const [best, second] = francAll(sample, { minLength: 1 });
  const code = codes[best?.[0] ?? ''];
  if (best === undefined || code === undefined) return undefined;
  const margin = best[1] - (second?.[1] ?? 0);
  return margin < leastMargin ? undefined : { code, score: best[1] };
}
