/** Made-up secrets of every kind. None of them opens anything. */
import { checkDigits } from '../../../../lib/base62.ts';
import { base62, base64, digits, hex, lowerLetters, type Random, upperLetters, urlSafe } from './random.ts';

type Make = (random: Random) => string;

const checked = (prefix: string, random: Random): string => {
  const body = random.characters(base62, 30);
  return prefix + body + checkDigits(body);
};

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const pem = (random: Random, label: string, newLine: string): string => {
  const lines = Array.from({ length: random.between(6, 20) }, () => random.characters(base64, 64));
  return [
    `-----BEGIN ${label}-----`,
    ...lines,
    `${random.characters(base64, 30)}==`,
    `-----END ${label}-----`,
  ].join(newLine);
};

const password: Make = (random) =>
  random.until(
    () => random.characters(`${base62}!#%^*-_+`, 16, 32),
    (value) =>
      new Set(value).size > 13 && (value.match(/[0-9]/g) ?? []).length > 2 && /^[A-Za-z0-9]/.test(value),
  );

export const credentials: Readonly<Record<string, Make>> = {
  aws_access_key: (random) => random.pick(['AKIA', 'ASIA']) + random.characters(`${upperLetters}234567`, 16),
  aws_secret_key: (random) =>
    random.until(
      () => random.characters(base64, 40),
      (key) => /[0-9]/.test(key),
    ),
  github_token: (random) =>
    random.chance(0.8)
      ? checked(random.pick(['ghp_', 'gho_', 'ghs_']), random)
      : `github_pat_${random.characters(base62, 22)}_${random.characters(base62, 59)}`,
  gitlab_token: (random) => `glpat-${random.characters(base62, 20)}`,
  slack_token: (random) => `xoxb-${random.digits(12)}-${random.digits(13)}-${random.characters(base62, 24)}`,
  slack_webhook: (random) =>
    `https://hooks.slack.com/services/T${random.characters(upperLetters + digits, 8)}/B${random.characters(upperLetters + digits, 10)}/${random.characters(base62, 24)}`,
  stripe_key: (random) =>
    `${random.pick(['sk', 'rk'])}_${random.pick(['live', 'test'])}_${random.characters(base62, 24)}`,
  openai_key: (random) =>
    random.chance(0.5)
      ? `sk-proj-${random.characters(base62, 74)}T3BlbkFJ${random.characters(base62, 74)}`
      : `sk-${random.characters(base62, 20)}T3BlbkFJ${random.characters(base62, 20)}`,
  anthropic_key: (random) =>
    `sk-ant-api03-${random.characters(urlSafe, 92)}${random.characters(base62, 1)}AA`,
  google_api_key: (random) => `AIza${random.characters(urlSafe, 34)}${random.characters(base62, 1)}`,
  gcp_service_account: (random) => pem(random, 'PRIVATE KEY', '\\n'),
  azure_storage_key: (random) => `${random.characters(base64, 86)}==`,
  npm_token: (random) => checked('npm_', random),
  pypi_token: (random) => `pypi-AgEIcHlwaS5vcmc${random.characters(base62, 140)}`,
  sendgrid_key: (random) => `SG.${random.characters(base62, 22)}.${random.characters(base62, 43)}`,
  twilio_key: (random) => `SK${random.characters(hex, 32)}`,
  private_key: (random) =>
    pem(
      random,
      random.pick(['RSA PRIVATE KEY', 'PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'EC PRIVATE KEY']),
      '\n',
    ),
  jwt: (random) =>
    `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: random.digits(8), iat: 1_750_000_000 })}.${random.characters(base62, 43)}`,
  connection_string: (random) =>
    `${random.pick(['postgres', 'mysql', 'mongodb+srv', 'redis', 'amqps'])}://${random.characters(lowerLetters, 6)}:${random.characters(base62, 14)}@db${random.between(1, 9)}.internal.example:5432/app`,
  plinth_key: (random) => {
    const unchecked = `${random.pick(['sk', 'plk', 'acme_key'])}_${random.pick(['live', 'test'])}_${random.characters(base62, 49)}`;
    return unchecked + checkDigits(unchecked);
  },
  azure_client_secret: (random) =>
    `${random.characters(base62, 3)}${random.digits(1)}Q~${random.characters(base62, 34)}`,
  huggingface_token: (random) => `hf_${random.characters(base62, 34)}`,
  grafana_token: (random) => `glsa_${random.characters(base62, 32)}_${random.characters(hex, 8)}`,
  docker_token: (random) => `dckr_pat_${random.characters(base62, 27)}`,
  shopify_token: (random) => `shpat_${random.characters(hex, 32)}`,
  tailscale_key: (random) =>
    `tskey-auth-k${random.characters(base62, 11)}CNTRL-${random.characters(base62, 32)}`,
  databricks_token: (random) => `dapi${random.characters(hex, 32)}`,
  basic_credentials: (random) =>
    Buffer.from(`${random.characters(lowerLetters, 7)}:${random.characters(base62, 12)}`).toString('base64'),
  generic_assignment: password,
};
