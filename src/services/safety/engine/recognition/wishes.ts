/** Which recognisers are worth asking for a set of detectors. Sets do not change, and the same few are used for many texts. */
export interface Wishes {
  readonly email: boolean;
  readonly iban: boolean;
  readonly phone: boolean;
  readonly ip: boolean;
  readonly mac: boolean;
  readonly mrz: boolean;
  readonly date: boolean;
  readonly coordinates: boolean;
  readonly url: boolean;
  readonly jwt: boolean;
  readonly pem: boolean;
  readonly plinth: boolean;
  readonly webhook: boolean;
  readonly assignment: boolean;
  readonly basic: boolean;
  readonly azureSecret: boolean;
  /** Ids of letters and digits. */
  readonly codes: boolean;
  /** Tokens with a prefix. */
  readonly tokens: boolean;
}

const codes = [
  'es_nif',
  'sg_nric',
  'gb_nino',
  'in_pan',
  'fi_hetu',
  'br_cnpj',
  'fr_nir',
  'it_fiscal_code',
  'vin',
];
const moreCodes = ['cn_resident_id', 'se_personnummer', 'bitcoin_address', 'ethereum_address'];

const known = new WeakMap<ReadonlySet<string>, Wishes>();

export function wishesOf(detectors: ReadonlySet<string>): Wishes {
  let wishes = known.get(detectors);
  if (wishes === undefined) known.set(detectors, (wishes = made(detectors)));
  return wishes;
}

function made(detectors: ReadonlySet<string>): Wishes {
  const wants = (...types: string[]) => types.some((type) => detectors.has(type));
  return {
    email: wants('pii.email'),
    iban: wants('pii.iban'),
    phone: wants('pii.phone'),
    ip: wants('pii.ip_address'),
    mac: wants('pii.mac_address'),
    mrz: wants('pii.passport_mrz'),
    date: wants('pii.date_of_birth'),
    coordinates: wants('pii.geo_coordinates'),
    url: wants('pii.url_credentials', 'secret.connection_string', 'pii.email'),
    jwt: wants('secret.jwt'),
    pem: wants('secret.private_key', 'secret.gcp_service_account'),
    plinth: wants('secret.plinth_key'),
    webhook: wants('secret.slack_webhook'),
    assignment: wants('secret.generic_assignment', 'secret.aws_secret_key', 'secret.azure_storage_key'),
    basic: wants('secret.basic_credentials'),
    azureSecret: wants('secret.azure_client_secret'),
    codes: wants(...[...codes, ...moreCodes].map((name) => `pii.${name}`)),
    tokens: [...detectors].some((type) => type.startsWith('secret.')),
  };
}
