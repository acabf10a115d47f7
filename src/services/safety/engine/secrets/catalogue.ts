import { type Known, known } from '../recognition/recognised.ts';

const rows: readonly (readonly [id: string, message: string, validator: string | null, base?: number])[] = [
  ['aws_access_key', 'AWS access key id', null],
  ['aws_secret_key', 'AWS secret access key', 'entropy'],
  ['github_token', 'GitHub token', 'CRC-32'],
  ['gitlab_token', 'GitLab token', null],
  ['slack_token', 'Slack token', null],
  ['slack_webhook', 'Slack webhook URL', null],
  ['stripe_key', 'Stripe secret key', null],
  ['openai_key', 'OpenAI API key', null],
  ['anthropic_key', 'Anthropic API key', null],
  ['google_api_key', 'Google API key', null],
  ['gcp_service_account', 'private key of a Google Cloud service account', 'PEM'],
  ['azure_storage_key', 'Azure storage account key', 'base64 of 64 bytes'],
  ['npm_token', 'token of npm', 'CRC-32'],
  ['pypi_token', 'PyPI token', null],
  ['sendgrid_key', 'SendGrid API key', null],
  ['twilio_key', 'Twilio API key', null],
  ['private_key', 'private key', 'PEM'],
  ['jwt', 'JSON Web Token', 'header with alg'],
  ['connection_string', 'URL with a password', null],
  ['plinth_key', 'Plinth API key', 'CRC-32'],
  ['azure_client_secret', 'client secret of an Azure application', null],
  ['huggingface_token', 'Hugging Face token', null],
  ['grafana_token', 'Grafana service account token', null],
  ['docker_token', 'Docker access token', null],
  ['shopify_token', 'Shopify access token', null],
  ['tailscale_key', 'Tailscale key', null],
  ['databricks_token', 'Databricks token', null],
  ['basic_credentials', 'name and password of HTTP Basic', null],
  ['generic_assignment', 'assigned password, secret or token', 'entropy', 0.6],
];

export const secrets: readonly Known[] = rows.map(([name, message, validator, base_score = 0.9]) =>
  known(message, { id: `secret.${name}`, focus: 'secrets', base_score, validator, context_words: [] }),
);
