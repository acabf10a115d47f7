import { alphanumeric, classOf } from '../recognition/characters.ts';
import type { Scan } from '../recognition/scan.ts';
import { kindOf, letters } from '../views/letters.ts';

const longestLocal = 64;
const longestDomain = 253;

/** Characters of a local part besides letters and digits; those that stand for something else in code and markup are left out. */
const localSigns = new Set([..."!#$%&'*+-.^_~"].map((sign) => sign.charCodeAt(0)));

/** Thai, Lao, Tibetan, Burmese and Khmer, in which a sentence would be drawn into the address. */
const isJoinedScript = (unit: number): boolean =>
  (unit >= 0xe00 && unit <= 0x109f) || (unit >= 0x1780 && unit <= 0x17ff);
/** Letters of alphabets in which words are set apart, with their marks: those of `é` may be written behind an `e`. */
const isForeignLetter = (unit: number): boolean =>
  unit >= 0xc0 &&
  (unit < 0x2000 ? !isJoinedScript(unit) && !isHangul(unit) : unit >= 0xfb1d && unit <= 0xfefc) &&
  (kindOf(unit) & letters) !== 0;
const isHangul = (unit: number): boolean => unit >= 0x1100 && unit <= 0x11ff;
const isAddressLetter = (unit: number): boolean =>
  (classOf(unit) & alphanumeric) !== 0 || isForeignLetter(unit);

/** Chinese, Japanese and Korean, of which only what is bounded otherwise is taken for a part of an address. */
const isEastAsian = (unit: number): boolean =>
  ((unit >= 0x2e80 && unit <= 0xd7a3) || isHangul(unit) || (unit >= 0xf900 && unit <= 0xfaff)) &&
  (kindOf(unit) & letters) !== 0;
/** Particles of Japanese are in hiragana: names in front of an `@` begin behind them. */
const isHiragana = (unit: number): boolean => unit >= 0x3041 && unit <= 0x309f;

const lastLabel = /^(?:[^0-9-]{2,63}|xn--[a-z0-9-]{1,59})$/i;
/** The top level domains in these scripts, the longer ones first: only they say where the address ends in a sentence. */
const eastAsianDomains = new RegExp(
  `^(?:${[
    ...['组织机构', '我爱你', '中文网', '中国', '中國', '香港', '台湾', '台灣', '新加坡', '澳門', '澳门'],
    ...[
      '公司',
      '网络',
      '網絡',
      '网址',
      '集团',
      '在线',
      '商城',
      '商店',
      '商标',
      '公益',
      '世界',
      '企业',
      '信息',
    ],
    ...[
      '政务',
      '政府',
      '机构',
      '网站',
      '网店',
      '移动',
      '手机',
      '新闻',
      '娱乐',
      '游戏',
      '时尚',
      '购物',
      '招聘',
    ],
    ...[
      '食品',
      '餐厅',
      '健康',
      '慈善',
      '广东',
      '佛山',
      '八卦',
      '广告',
      '测试',
      '測試',
      '通販',
      '家電',
      '書籍',
    ],
    ...[
      'ファッション',
      'クラウド',
      'ポイント',
      'グーグル',
      'アマゾン',
      'みんな',
      'ストア',
      'セール',
      'コム',
      'テスト',
    ],
    ...['한국', '삼성', '닷컴', '닷넷', '테스트'],
  ].join('|')})`,
);
/** An ASCII label behind which a sentence in another script goes on. */
const endedLabel = /^(?:xn--[a-z0-9-]{1,59}|[a-z]{2,63})(?=[^\0-\u036f\u1e00-\u1eff])/i;

/** Providers of mobile phones in Japan, which gave out addresses with dots where none may be. */
const carriers =
  /(?:^|\.)(?:docomo\.ne|ezweb\.ne|softbank(?:\.ne)?|vodafone\.ne|disney\.ne|pdx\.ne|emnet\.ne|emobile\.ne|ymobile1?\.ne|uqmobile)\.jp$|(?:^|\.)(?:au|willcom)\.com$/i;

/** `image@2x.png` is a file, and none of these is a domain. */
const fileNames = new Set([
  'png',
  'jpg',
  'jpeg',
  'gif',
  'webp',
  'svg',
  'service',
  'js',
  'json',
  'css',
  'html',
]);

/** Recognises the address around an `@`. */
export function recogniseEmail(scan: Scan, sign: number): void {
  const { text } = scan;
  const end = domainEnd(text, sign + 1);
  scan.work += end - sign;
  if (end === sign + 1) return;
  const start = localStart(text, sign, carriers.test(text.slice(sign + 1, end)));
  scan.work += sign - start;
  if (start === sign) return;
  // `git@host:path` names a repository.
  if (text.slice(start, sign) === 'git' && /[:/]/.test(text.charAt(end))) return;
  scan.add('pii.email', start, end, text.slice(start, end).normalize('NFC').toLowerCase());
}

function localStart(text: string, sign: number, hasOddDots: boolean): number {
  const first = Math.max(0, sign - longestLocal - 1);
  let at = sign;
  while (at > first && isLocal(text.charCodeAt(at - 1))) at--;
  if (at === sign) return eastAsianStart(text, sign, first);
  if (sign - at > longestLocal || (text.charAt(sign - 1) === '.' && !hasOddDots)) return sign;
  const doubled = hasOddDots ? -1 : text.slice(at, sign).lastIndexOf('..');
  if (doubled >= 0) at += doubled + 2;
  // Markup and quotation marks in front of the address are no part of it.
  while (at < sign && !isAddressLetter(text.charCodeAt(at)) && text.charAt(at) !== '_') at++;
  return at + 1 < sign && isEscape(text, at) ? at + 1 : at;
}

/** Characters in front of an escape in which the string of JSON begins that has it. */
const longestString = 256;

/** Whether the letter at a position is that of an escape, in JSON within JSON, and not the first of a name: `CORP\robert@corp.com`. */
const isEscape = (text: string, at: number): boolean =>
  text.charCodeAt(at - 1) === 92 &&
  /[nrt]/.test(text.charAt(at)) &&
  text.slice(Math.max(0, at - longestString), at).includes('"');

/** Where a name in a script without spaces begins. */
function eastAsianStart(text: string, sign: number, first: number): number {
  let at = sign;
  while (at > first && isEastAsian(text.charCodeAt(at - 1)) && !isHiragana(text.charCodeAt(at - 1))) at--;
  return at > first || at === 0 ? at : sign;
}

const isLocal = (unit: number): boolean => isAddressLetter(unit) || localSigns.has(unit);

/** Where the domain ends; `from` when there is none. What follows the last label that can be one is no part of it. */
function domainEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + longestDomain + 1);
  let at = from;
  let isBounded = true;
  for (; at < last; at++) {
    const unit = text.charCodeAt(at);
    if (isDomain(unit)) continue;
    if (!isEastAsian(unit)) break;
    isBounded = false;
  }
  if (at - from > longestDomain) return from;
  const labels = text.slice(from, at).split('.');
  if (!isBounded && !endInSentence(labels)) return from;
  const broken = labels.findIndex(
    (label) => label === '' || label.length > 63 || label.startsWith('-') || label.endsWith('-'),
  );
  const usable =
    broken < 0
      ? labels
      : labels
          .slice(0, broken + 1)
          .map(withoutHyphens)
          .filter(Boolean);
  while (usable.length > 1 && !lastLabel.test(usable.at(-1)!)) usable.pop();
  if (fileNames.has(usable.at(-1)?.toLowerCase() ?? '')) return from;
  return usable.length < 2 ? from : from + usable.join('.').length;
}

/** Ends the labels where the domain ends, if a sentence in another script goes on behind it; returns whether it is one. */
function endInSentence(labels: string[]): boolean {
  for (let index = 1; index < labels.length; index++) {
    const end = endedLabel.exec(labels[index]!) ?? eastAsianDomains.exec(labels[index]!);
    if (end === null) continue;
    labels.splice(index, labels.length, end[0]);
    return true;
  }
  return labels.length > 1 && !isEastAsian(labels.at(-1)!.charCodeAt(0));
}

/** A hyphen behind the last label is punctuation; one before a label is a mistake that ends the domain. */
const withoutHyphens = (label: string): string =>
  label.startsWith('-') || label.length > 63 ? '' : label.replace(/-{1,253}$/, '');

const isDomain = (unit: number): boolean => isAddressLetter(unit) || unit === 45 || unit === 46;
