/**
 * The currencies of ISO 4217 by the digits of their minor unit. They say what every stored amount means, so they are written down here: the
 * data with which a runtime displays currencies leaves out minor units that are rarely used in cash, and changes with its releases.
 */
const byDigits: Readonly<Record<number, string>> = {
  0: 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf',
  2: `aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob bov brl bsd btn bwp byn bzd cad cdf che chf chw cny cop cou crc cup
    cve czk dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gtq gyd hkd hnl htg huf idr ils inr irr jmd kes kgs khr kpw kyd kzt lak
    lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn mxv myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd
    rub sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt top try ttd twd tzs uah usd usn uyu uzs ved ves wst xcd xcg
    yer zar zmw zwg`,
  3: 'bhd iqd jod kwd lyd omr tnd',
  4: 'clf uyw',
};

/** Symbols that readers of English know, without two currencies sharing one. All others are shown by their code. */
const symbols: Readonly<Record<string, string>> = {
  ...{ aud: 'A$', brl: 'R$', cad: 'CA$', cny: 'CN¥', eur: '€', gbp: '£', hkd: 'HK$', ils: '₪', inr: '₹' },
  ...{ jpy: '¥', krw: '₩', mxn: 'MX$', nzd: 'NZ$', php: '₱', twd: 'NT$', usd: '$', vnd: '₫', xaf: 'FCFA' },
  ...{ xcd: 'EC$', xcg: 'Cg.', xof: 'F CFA', xpf: 'CFPF' },
};

/** What is known of a currency. */
interface CurrencyFacts {
  /** How many decimals its major unit has. */
  readonly digits: number;
  /** What stands before an amount, with a space if it is not a sign. */
  readonly label: string;
}

const factsOf = (code: string, digits: number): CurrencyFacts => {
  const symbol = symbols[code] ?? code.toUpperCase();
  return Object.freeze({ digits, label: /[\p{L}.]$/u.test(symbol) ? `${symbol} ` : symbol });
};

/** By their codes in lower case. */
export const currencies: ReadonlyMap<string, CurrencyFacts> = new Map(
  Object.entries(byDigits).flatMap(([digits, codes]) =>
    codes.split(/\s+/).map((code) => [code, factsOf(code, Number(digits))] as const),
  ),
);

/** Of a currency that has left ISO 4217 since an amount was stored, two digits are assumed: all but a few have them. */
export const currencyFacts = (code: string): CurrencyFacts => currencies.get(code) ?? factsOf(code, 2);
