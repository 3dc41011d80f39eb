// Makes the vectors whose senders have a library on npm. `kind` is as in make.py.
import { createHash, createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EventEmitter } from 'node:events';
import https from 'node:https';
import assert from 'node:assert';

const require = createRequire(import.meta.url);
const here = dirname(new URL(import.meta.url).pathname);
const T = 1767225600; // 2026-01-01T00:00:00Z
const URL_ = 'https://hooks.example.com/v1/webhooks/abc';
const BODIES = [
  '{"id":"evt_1","type":"invoice.paid","event":"paid","amount":1200}',
  '{"id": "evt_2", "type": "customer.created", "event": "created", "name": "Zoë Ærøskøbing 🎉", "note": "a\\nb"}',
  '{\n  "id": "evt_3",\n  "type": "order.deleted",\n  "event": "deleted",\n  "lines": [1, 2.5, null, true]\n}\n',
];
const SECRETS = ['s3cr3t-Key_of.This~Provider', '0f1e2d3c4b5a69788796a5b4c3d2e1f0', 'Zm9vYmFyYmF6cXV4-ünïcode'];
// For the libraries, it is then.
globalThis.Date = class extends Date {
  constructor(...at) {
    super(...(at.length ? at : [T * 1000]));
  }
  static now() {
    return T * 1000;
  }
};

const vectors = {};
function put(preset, kind, made_by, secret, headers, body, signatures, more = {}) {
  (vectors[preset] ??= []).push({ kind, made_by, now: T, method: 'POST', url: URL_, secret, headers, body, signatures, ...more });
}
function version(name) {
  return JSON.parse(readFileSync(join(here, 'node_modules', name, 'package.json'))).version;
}
const by = (name, what) => `${name} ${version(name)} (npm), ${what}`;
const checked = (name) => `Node's crypto, accepted by ${name} ${version(name)} (npm)`;
const mac = (secret, text, encoding = 'hex', algorithm = 'sha256') => createHmac(algorithm, secret).update(text).digest(encoding);

const { sign, verify } = await import('@octokit/webhooks-methods');
const { Signature } = await import('@hubspot/api-client');
const { WebhooksHelper } = await import('square');
const { LinearWebhookClient } = await import('@linear/sdk/webhooks');
const Mux = (await import('@mux/mux-node')).default;
const { WorkOS } = await import('@workos-inc/node');
const { Paddle } = await import('@paddle/paddle-node-sdk');
const Razorpay = (await import('razorpay')).default;
const line = await import('@line/bot-sdk');
const { WebflowClient } = await import('webflow-api');
const { ElevenLabsClient } = await import('@elevenlabs/elevenlabs-js');
const notion = await import('@notionhq/client');
const sanity = await import('@sanity/webhook');
const livekit = await import('livekit-server-sdk');
const Pusher = (await import('pusher')).default;
const gocardless = await import('gocardless-nodejs/webhooks');
await import('@shopify/shopify-api/adapters/node');
const { shopifyApi, ApiVersion, WebhookType } = await import('@shopify/shopify-api');
const { verifyWebhookSignature } = require('@hookdeck/sdk/webhooks/helpers');
// The keys of Adobe, from where its library would have cached them.
const adobeKeys = {};
const state = require.resolve('@adobe/aio-lib-state');
require.cache[state] = { id: state, filename: state, loaded: true, exports: { init: async () => ({ get: async (name) => ({ value: adobeKeys[name] }), put: async () => {} }) } };
const { verifyDigitalSignature } = require('@adobe/aio-lib-events/src/signatureUtils.js').exportFunctions;
const SnsValidator = require('sns-validator');

for (const [number, body] of BODIES.entries()) {
  const secret = SECRETS[number];

  const github = await sign(secret, body);
  assert(await verify(secret, body, github));
  put('github', 'library', by('@octokit/webhooks-methods', 'sign'), secret,
    { 'X-Hub-Signature-256': github, 'X-GitHub-Delivery': '72d3162e', 'X-GitHub-Event': 'push' }, body, [github.slice(7)]);
  const sha1 = mac(secret, body, 'hex', 'sha1');
  put('github_sha1', 'recipe', "Node's crypto, by the vendor's recipe", secret, { 'X-Hub-Signature': `sha1=${sha1}` }, body, [sha1]);

  const url = number === 0 ? URL_ : `${URL_}?a=1&b=two`;
  for (const [preset, header, form] of [['hubspot', 'X-HubSpot-Signature-v3', 'v3'], ['hubspot_v2', 'X-HubSpot-Signature', 'v2'], ['hubspot_v1', 'X-HubSpot-Signature', 'v1']]) {
    const made = Signature.getSignature('POST', form, { clientSecret: secret, requestBody: body, url, timestamp: T * 1000 });
    const headers = { [header]: made };
    if (form === 'v3') headers['X-HubSpot-Request-Timestamp'] = String(T * 1000);
    put(preset, 'library', by('@hubspot/api-client', 'Signature.getSignature'), secret, headers, body, [made], { url });
  }

  const square = mac(secret, url + body, 'base64');
  assert(await WebhooksHelper.verifySignature({ requestBody: body, signatureHeader: square, signatureKey: secret, notificationUrl: url }));
  put('square', 'checked', checked('square'), secret, { 'x-square-hmacsha256-signature': square }, body, [square], { url });

  const event = JSON.stringify({ ...JSON.parse(body), webhookTimestamp: T * 1000 });
  const linear = mac(secret, event);
  assert(new LinearWebhookClient(secret).verify(Buffer.from(event), linear, T * 1000));
  put('linear', 'checked', checked('@linear/sdk'), secret, { 'Linear-Signature': linear, 'Linear-Delivery': 'd1', 'Linear-Event': 'Issue' }, event, [linear]);

  const stamped = mac(secret, `${T}.${body}`);
  const mux = `t=${T},v1=${stamped}`;
  await new Mux({ tokenId: 'a', tokenSecret: 'b' }).webhooks.verifySignature(body, { 'mux-signature': mux }, secret);
  put('mux', 'checked', checked('@mux/mux-node'), secret, { 'Mux-Signature': mux }, body, [stamped]);

  const workos = mac(secret, `${T * 1000}.${JSON.stringify(JSON.parse(body))}`);
  const compact = JSON.stringify(JSON.parse(body));
  const header = `t=${T * 1000}, v1=${workos}`;
  await new WorkOS('sk_test').webhooks.verifyHeader({ payload: JSON.parse(compact), sigHeader: header, secret });
  put('workos', 'checked', checked('@workos-inc/node'), secret, { 'WorkOS-Signature': header }, compact, [workos]);

  const paddle = mac(secret, `${T}:${body}`);
  assert(await new Paddle('key').webhooks.isSignatureValid(body, secret, `ts=${T};h1=${paddle}`));
  put('paddle', 'checked', checked('@paddle/paddle-node-sdk'), secret, { 'Paddle-Signature': `ts=${T};h1=${paddle}` }, body, [paddle]);

  const plain = mac(secret, body);
  assert(Razorpay.validateWebhookSignature(body, plain, secret));
  put('razorpay', 'checked', checked('razorpay'), secret, { 'X-Razorpay-Signature': plain, 'x-razorpay-event-id': 'e1' }, body, [plain]);

  const base64 = mac(secret, body, 'base64');
  assert(line.validateSignature(body, secret, base64));
  put('line', 'checked', checked('@line/bot-sdk'), secret, { 'x-line-signature': base64 }, body, [base64]);

  const other = mac('the secret before', body, 'base64');
  const hookdeck = number === 0 ? { 'x-hookdeck-signature': base64 } : { 'x-hookdeck-signature': other, 'x-hookdeck-signature-2': base64 };
  assert((await verifyWebhookSignature({ headers: hookdeck, rawBody: body, signingSecret: secret })).isValidSignature);
  put('hookdeck', 'checked', checked('@hookdeck/sdk'), secret, { ...hookdeck, 'x-hookdeck-eventid': 'evt_1' }, body, [base64]);

  const shopify = shopifyApi({ apiKey: 'k', apiSecretKey: secret, hostName: 'shop.example', apiVersion: ApiVersion?.July25 ?? '2025-07', isEmbeddedApp: false });
  const sent = { 'X-Shopify-Hmac-SHA256': base64, 'X-Shopify-Topic': 'orders/create', 'X-Shopify-Webhook-Id': 'w1', 'X-Shopify-API-Version': '2025-07', 'X-Shopify-Shop-Domain': 'a.myshopify.com' };
  const rawRequest = Object.assign(new EventEmitter(), { method: 'POST', url: '/', headers: Object.fromEntries(Object.entries(sent).map(([k, v]) => [k.toLowerCase(), v])) });
  const validity = await shopify.webhooks.validate({ rawBody: body, rawRequest });
  assert(validity.valid, JSON.stringify(validity));
  put('shopify', 'checked', checked('@shopify/shopify-api'), secret, sent, body, [base64]);

  const webflow = mac(secret, `${T * 1000}:${body}`);
  const flow = { 'x-webflow-signature': webflow, 'x-webflow-timestamp': String(T * 1000) };
  assert(await new WebflowClient({ accessToken: 'a' }).webhooks.verifySignature({ headers: flow, body, secret }));
  put('webflow', 'checked', checked('webflow-api'), secret, flow, body, [webflow]);

  const eleven = `t=${T},v0=${stamped}`;
  await new ElevenLabsClient({ apiKey: 'a' }).webhooks.constructEvent(body, eleven, secret);
  put('elevenlabs', 'checked', checked('@elevenlabs/elevenlabs-js'), secret, { 'ElevenLabs-Signature': eleven }, body, [stamped]);

  const noted = await notion.signWebhookPayload({ body, verificationToken: secret });
  put('notion', 'library', by('@notionhq/client', 'signWebhookPayload'), secret, { 'X-Notion-Signature': noted }, body, [noted.slice(7)]);

  const sane = await sanity.encodeSignatureHeader(body, T * 1000, secret);
  put('sanity', 'library', by('@sanity/webhook', 'encodeSignatureHeader'), secret, { 'sanity-webhook-signature': sane, 'idempotency-key': 'k1', 'sanity-operation': 'update' }, body, [sane.split('v1=')[1]]);

  const token = new livekit.AccessToken('key', secret, { ttl: 300 });
  token.sha256 = createHash('sha256').update(body).digest('base64');
  const live = await token.toJwt();
  await new livekit.WebhookReceiver('key', secret).receive(body, live);
  put('livekit', 'library', by('livekit-server-sdk', 'AccessToken.toJwt'), secret, { Authorization: live }, body, [live]);

  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = pair.publicKey.export({ type: 'spki', format: 'pem' });
  const adobe = JSON.stringify({ ...JSON.parse(body), event_id: 'e1', recipient_client_id: 'client-1' });
  const adobeSignature = createSign('SHA256').update(adobe).sign(pair.privateKey, 'base64');
  const place = `/prod/keys/pub-key-${number}.pem`;
  adobeKeys[`pub-key-${number}.pem`] = pem;
  assert(await verifyDigitalSignature({ digiSignature1: adobeSignature, digiSignature2: adobeSignature, publicKeyPath1: place, publicKeyPath2: place }, 'client-1', adobe));
  put('adobe_io', 'checked', checked('@adobe/aio-lib-events'), null, { 'x-adobe-digital-signature-1': adobeSignature, 'x-adobe-public-key1-path': place }, adobe, [adobeSignature],
    { parameters: { client_id: 'client-1' }, keys: [{ url: `https://static.adobeioevents.com${place}`, document: pem }] });

  const pusher = new Pusher({ appId: '1', key: 'key', secret, host: 'h' });
  const pushed = { 'x-pusher-key': 'key', 'x-pusher-signature': plain, 'content-type': 'application/json' };
  assert(pusher.webhook({ headers: pushed, rawBody: body }).isValid());
  put('pusher', 'checked', checked('pusher'), secret, pushed, body, [plain]);

  const money = JSON.stringify({ ...JSON.parse(body), events: [] });
  const go = mac(secret, money);
  gocardless.parse(money, secret, go);
  put('gocardless', 'checked', checked('gocardless-nodejs'), secret, { 'Webhook-Signature': go }, money, [go]);
}

// GitHub's documentation publishes one.
const github = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
put('github', 'published', 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries', "It's a Secret to Everybody",
  { 'X-Hub-Signature-256': `sha256=${github}` }, 'Hello, World!', [github]);

// SNS: the certificate is made by OpenSSL, and handed to the library instead of AWS's.
const folder = mkdtempSync(join(tmpdir(), 'vectors-'));
execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', '/CN=sns.amazonaws.com',
  '-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')], { stdio: 'ignore' });
const key = readFileSync(join(folder, 'key.pem'));
const certificate = readFileSync(join(folder, 'certificate.pem'), 'utf8');
https.get = (_, answer) => {
  const response = Object.assign(new EventEmitter(), { statusCode: 200 });
  answer(response);
  response.emit('data', certificate);
  response.emit('end');
  return new EventEmitter();
};
const topic = 'arn:aws:sns:eu-central-1:123456789012:orders';
const where = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';
const common = { MessageId: '165545c9-2a5c-472c-8df2-7ff2be2b3b1b', TopicArn: topic, Timestamp: '2026-01-01T00:00:00.000Z', SigningCertURL: where };
const confirm = `https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topic}&Token=2336412f37`;
for (const [version_, message] of [
  ['1', { Type: 'Notification', ...common, Subject: 'Paid', Message: BODIES[0] }],
  ['2', { Type: 'Notification', ...common, Message: 'Zoë\n🎉' }],
  ['2', { Type: 'SubscriptionConfirmation', ...common, Token: '2336412f37', Message: 'You have chosen to subscribe', SubscribeURL: confirm }],
]) {
  const order = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = order.filter((name) => name in message).map((name) => `${name}\n${message[name]}\n`).join('');
  const made = createSign(version_ === '1' ? 'RSA-SHA1' : 'RSA-SHA256').update(text, 'utf8').sign(key, 'base64');
  const whole = { ...message, SignatureVersion: version_, Signature: made };
  await new Promise((done, failed) => new SnsValidator().validate({ ...whole }, (error) => (error ? failed(error) : done())));
  put('aws_sns', 'checked', checked('sns-validator'), null, { 'Content-Type': 'text/plain; charset=UTF-8' }, JSON.stringify(whole), [made],
    { parameters: { topic_arn: topic }, keys: [{ url: where, document: certificate }] });
}

for (const [preset, made] of Object.entries(vectors)) {
  writeFileSync(join(here, '..', `${preset}.json`), JSON.stringify(made, null, 1) + '\n');
}
console.log(Object.keys(vectors).length, 'presets,', Object.values(vectors).flat().length, 'vectors');
process.exit(0);
