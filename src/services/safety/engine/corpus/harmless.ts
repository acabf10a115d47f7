/** Made-up texts in which there is nothing to find, though much of it looks like something. */
import { base62, hex, lowerLetters, type Random, upperLetters } from './random.ts';

type Make = (random: Random) => string;

const uuid: Make = (random) => [8, 4, 4, 4, 12].map((length) => random.characters(hex, length)).join('-');
const privateIp: Make = (random) =>
  random.pick([
    () => `10.${random.between(0, 255)}.${random.between(0, 255)}.${random.between(1, 254)}`,
    () => `192.168.${random.between(0, 255)}.${random.between(1, 254)}`,
    () => '127.0.0.1',
  ])();
const version: Make = (random) =>
  `${random.between(0, 30)}.${random.between(0, 99)}.${random.between(0, 99)}`;
const amount: Make = (random) => `${random.between(1, 999)},${random.digits(3)}.${random.digits(2)}`;
const time: Make = (random) =>
  `2026-${random.between(10, 12)}-${random.between(10, 28)}T${random.between(10, 23)}:${random.between(10, 59)}:${random.between(10, 59)}Z`;

const makes: readonly Make[] = [
  (random) => `Your order ${random.digits(10)} has shipped and arrives on Friday.`,
  (random) => `Bestellnummer ${random.digits(10)}, Lieferung in 3 Tagen`,
  (random) => `order_id=${random.digits(10)} status=paid amount=${amount(random)}`,
  (random) => `Ticket ${random.digits(10)} was closed by the agent.`,
  (random) =>
    `Tracking ${random.characters(upperLetters, 2)}${random.digits(9)}${random.characters(upperLetters, 2)} is on its way.`,
  (random) => `Invoice INV-2026-${random.digits(6)} over ${amount(random)} EUR is due.`,
  (random) =>
    `Please pay ${random.pick(['INV', 'PO', 'Ref', 'RMA'])}-${random.digits(3)}-${random.digits(2)}-${random.digits(4)} by Friday.`,
  (random) => `The request ${uuid(random)} took ${random.between(2, 900)} ms.`,
  (random) => `{"id":"${uuid(random)}","ok":true,"count":${random.between(1, 99_999)}}`,
  (random) => `Upgrade to version ${version(random)} (build ${random.digits(5)}) today.`,
  (random) => `npm install left-pad@${version(random)} --save-exact`,
  (random) =>
    `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/${random.between(90, 140)}.0.0.0 Safari/537.36`,
  (random) => `commit ${random.characters(hex, 40)}\nAuthor: the bot\n\n    Fix the build`,
  (random) => `Reverted ${random.characters(hex, 7)}..${random.characters(hex, 9)} on main.`,
  (random) => `sha256:${random.characters(hex, 64)}  app.tar.gz`,
  (random) => `integrity sha512-${random.characters(`${base62}+/`, 86)}==`,
  (random) => `md5 ${random.characters(hex, 32)} matches`,
  (random) =>
    `${privateIp(random)} - - [25/Nov/2026:10:11:12 +0000] "GET /health HTTP/1.1" 200 ${random.between(10, 9_999)}`,
  (random) =>
    `listening on ${privateIp(random)}:${random.between(1_024, 65_000)}, ${random.between(1, 64)} workers`,
  (random) =>
    `for (let i = 0; i < ${random.between(2, 4_096)}; i++) total += weights[i] * 0.${random.digits(6)};`,
  () => 'const token = await getTokenFromSession(request.headers.authorization);',
  () => 'password: process.env.DATABASE_PASSWORD,',
  () => 'secret = os.environ["CLIENT_SECRET_V2_2026"]',
  () => 'api_key: ${{ secrets.OPENAI_API_KEY_2026 }}',
  () => 'PASSWORD=changeme-please-1234',
  () => 'token: "<your-token-goes-here-1>"',
  () => 'A good password has at least 12 characters, 2 digits and a symbol; never reuse a password.',
  () => 'Our password policy: rotate secrets every 90 days and store tokens in a vault, not in code.',
  () => 'Passwort vergessen? Wir senden Ihnen einen Link, der 30 Minuten gültig ist.',
  () => 'I forgot my password and the API key does not work either, what can I do?',
  () => 'The PEM file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.',
  () => 'JWTs start with eyJ because their header is JSON; the second part is the payload.',
  () => 'GitHub tokens begin with ghp_ and Stripe keys with sk_live_, so that scanners find them.',
  () => 'Card numbers such as 4111 1111 1111 1112 fail the check of Luhn.',
  () => 'Email the team, or @mention us: @support, @dev/core. Decorators look like @Injectable() in code.',
  (random) =>
    `scope packages are called @${random.characters(lowerLetters, 6)}/core@${version(random)} on npm`,
  () => 'git clone git@github.com:acme/app.git && cd app',
  (random) =>
    `Parcel size 30 x 20 x 10 cm, weight ${random.between(1, 20)}.${random.digits(3)} kg, SKU ${random.digits(8)}`,
  (random) => `ISBN 978-3-16-${random.digits(6)}-0, 2nd edition, ${random.between(100, 900)} pages`,
  (random) => `[${time(random)}] job ${random.digits(13)} finished in ${random.between(1, 90)}s`,
  (random) =>
    `timestamp ${random.between(1_600_000_000, 1_800_000_000)} and ${random.between(1_600_000_000, 1_800_000_000)}000`,
  (random) => `On ${random.between(1, 28)} March 2026 revenue rose to ${amount(random)} million.`,
  (random) =>
    `Temperatures of 21.5, 19.25 and ${random.between(10, 30)}.${random.digits(2)} degrees were measured.`,
  (random) =>
    `pi is 3.14159, e is 2.71828, and the ratio 1.61803 is called golden (${random.between(1, 99)} %).`,
  () => 'std::vector<int> v; a::b::c(1); x[1::2]; ratio 16:9 at 12:30:45',
  () => 'Der Vertrag regelt in § 12 Abs. 3 Nr. 4 die Haftung; siehe auch Seite 118.',
  () => 'Le numéro de la salle est 12, au 3e étage, porte B.',
  () => 'El informe tiene 120 páginas y 35 gráficos; la reunión es a las 10:00.',
  () => '订单将在3到5天内送达，如有问题请联系客服。',
  () => 'Звоните нам в любое время, мы рады помочь.',
  (random) =>
    `Seriennummer ${random.characters(upperLetters, 2)}-${random.digits(4)}-${random.digits(5)}, Garantie 24 Monate`,
  (random) =>
    `SELECT * FROM orders WHERE id IN (${random.digits(7)}, ${random.digits(7)}, ${random.digits(7)});`,
  (random) =>
    `color: #${random.characters(hex, 6)}; margin: ${random.between(1, 99)}px; z-index: ${random.digits(4)};`,
  (random) => `GET /v1/items/${random.digits(9)}?page=${random.between(1, 99)}&limit=100`,
  (random) => `${random.characters(base62, 22)} is the id of the document.`,
  (random) => `PLZ ${random.digits(5)} Musterstadt, Hausnummer ${random.between(1, 200)}`,
];

export const harmless: Make = (random) => random.pick(makes)(random);
