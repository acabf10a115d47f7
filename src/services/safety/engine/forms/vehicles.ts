const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
/** The values of the letters A to Z; I, O and Q occur in no number. */
const letters = [1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 0, 7, 0, 9, 2, 3, 4, 5, 6, 7, 8, 9];

/** ISO 3779 with the check digit in the ninth place. A number of digits only is no vehicle's. */
export function isVin(id: string): boolean {
  let sum = 0;
  let digits = 0;
  for (let at = 0; at < 17; at++) {
    const unit = id.charCodeAt(at);
    if (unit < 58) digits++;
    sum += weights[at]! * (unit < 58 ? unit - 48 : letters[unit - 65]!);
  }
  const rest = sum % 11;
  return digits > 3 && digits < 17 && id.charAt(8) === (rest === 10 ? 'X' : `${rest}`);
}
