const longestPreview = 64;
const mask = '***';

/** A preview of at most 64 characters that says which value it was to those who know it, and to nobody else. */
export function masked(type: string, raw: string): string {
  if (type === 'pii.email') return maskedEmail(raw);
  if (type === 'secret.private_key' || type === 'secret.gcp_service_account') return `-----BEGIN ${mask}`;
  if (
    type === 'secret.generic_assignment' ||
    type === 'secret.connection_string' ||
    type === 'pii.url_credentials'
  )
    return mask;
  const compact = raw
    .slice(0, 128)
    .normalize('NFKC')
    .replace(/[\s./-]/g, '');
  if (type.startsWith('secret.')) return compact.length < 20 ? mask : `${compact.slice(0, 4)}${mask}`;
  if (type === 'pii.credit_card' || type === 'pii.iban' || type === 'pii.phone')
    return compact.length < 9 ? mask : `${mask}${compact.slice(-4)}`;
  if (type === 'pii.person_name') return `${[...raw][0] ?? ''}${mask}`;
  return compact.length < 8 ? mask : `${mask}${compact.slice(-2)}`;
}

/** `j***@e***.com`: the first characters, and the last label of the domain. */
function maskedEmail(raw: string): string {
  const sign = raw.lastIndexOf('@');
  const domain = raw.slice(sign + 1);
  // An app's own detector may call anything an address.
  const label = /\.[^\s.]+$/u.exec(domain)?.[0] ?? '';
  const shown = `${[...raw][0] ?? ''}${mask}@${[...domain][0] ?? ''}${mask}${label}`;
  return shown.length > longestPreview || sign < 1 ? mask : shown;
}
