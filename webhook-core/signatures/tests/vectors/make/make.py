"""Makes the vectors whose senders have a library on PyPI, or none at all.

Each vector says in `made_by` what made it. `kind` is one of
  library    a library of the vendor made the signature,
  checked    the vendor's recipe made it, and a library of the vendor accepts it,
  published  the vendor's documentation has it,
  recipe     the vendor's recipe made it, by Python's standard library (hmac, hashlib) or,
             for public keys, by `cryptography`.
Nothing here reads the presets: what the two say must agree by itself.
"""

import base64, hashlib, hmac, json, pathlib, time, zlib
from importlib.metadata import version

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from datetime import datetime, timezone

HERE = pathlib.Path(__file__).parent
T = 1_767_225_600  # 2026-01-01T00:00:00Z
ISO = "2026-01-01T00:00:00Z"
URL = "https://hooks.example.com/v1/webhooks/abc"
PYTHON = "Python's hmac, by the vendor's recipe"
BODIES = [
    '{"id":"evt_1","type":"invoice.paid","event":"paid","amount":1200}',
    '{"id": "evt_2", "type": "customer.created", "event": "created", "name": "Zoë Ærøskøbing 🎉", "note": "a\\nb"}',
    '{\n  "id": "evt_3",\n  "type": "order.deleted",\n  "event": "deleted",\n  "lines": [1, 2.5, null, true]\n}\n',
]
SECRETS = ["s3cr3t-Key_of.This~Provider", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "Zm9vYmFyYmF6cXV4-ünïcode"]

time.time = lambda: T
vectors = {}


def put(preset, kind, made_by, secret, headers, body, signatures, *, url=URL, method="POST", now=T, parameters=None, keys=None):
    vector = {"kind": kind, "made_by": made_by, "now": now, "method": method, "url": url, "secret": secret,
              "headers": headers, "body": body, "signatures": signatures}
    if parameters:
        vector["parameters"] = parameters
    if keys:
        vector["keys"] = keys
    vectors.setdefault(preset, []).append(vector)


def mac(secret, text, algorithm="sha256", encoding="hex"):
    secret = secret.encode() if isinstance(secret, str) else secret
    text = text.encode() if isinstance(text, str) else text
    made = hmac.new(secret, text, algorithm)
    return made.hexdigest() if encoding == "hex" else base64.b64encode(made.digest()).decode()


# Senders without a library: the recipe of their documentation.
def recipe(preset, header, algorithm="sha256", encoding="hex", prefix="", more=None, text=lambda body: body):
    for body, secret in zip(BODIES, SECRETS):
        made = mac(secret, text(body), algorithm, encoding)
        put(preset, "recipe", PYTHON, secret, {header: prefix + made, **(more or {})}, body, [made])


recipe("bitbucket", "X-Hub-Signature", prefix="sha256=", more={"X-Request-UUID": "b7a3", "X-Event-Key": "repo:push"})
for name in ["Gitea", "Forgejo", "Gogs"]:
    recipe(name.lower(), f"X-{name}-Signature", more={f"X-{name}-Event": "push"})
recipe("intercom", "X-Hub-Signature", "sha1", prefix="sha1=")
recipe("typeform", "Typeform-Signature", encoding="base64", prefix="sha256=")
recipe("dropbox", "X-Dropbox-Signature")
recipe("vercel", "x-vercel-signature", "sha1")
recipe("woocommerce", "X-WC-Webhook-Signature", encoding="base64")
recipe("cal_com", "x-cal-signature-256")
recipe("cursor", "X-Webhook-Signature", prefix="sha256=")
recipe("grafana", "X-Grafana-Alerting-Signature")
recipe("terraform_cloud", "X-TFE-Notification-Signature", "sha512")
recipe("meta", "X-Hub-Signature-256", prefix="sha256=")
recipe("whatsapp", "X-Hub-Signature-256", prefix="sha256=")
recipe("x", "X-Twitter-Webhooks-Signature", encoding="base64", prefix="sha256=")
recipe("xero", "x-xero-signature", encoding="base64")
recipe("asana", "X-Hook-Signature")
recipe("jira", "X-Hub-Signature", prefix="sha256=")
recipe("sentry", "Sentry-Hook-Signature", more={"Request-ID": "8f2a", "Sentry-Hook-Resource": "issue"})
recipe("websub", "X-Hub-Signature", prefix="sha256=")
recipe("nylas", "X-Nylas-Signature")
recipe("lemon_squeezy", "X-Signature")
recipe("linkedin", "X-LI-Signature", text=lambda body: "hmacsha256=" + body)
for body, secret in zip(BODIES, SECRETS):
    made = mac(secret, body)
    other = mac("the secret before", body)
    put("pagerduty", "recipe", PYTHON, secret, {"X-PagerDuty-Signature": f"v1={other},v1={made}"}, body, [made])
    put("outpost", "recipe", PYTHON, secret, {"x-outpost-signature": f"v0={made},{other}"}, body, [made])
    made = mac(secret, body, encoding="base64")
    put("docusign", "recipe", PYTHON, secret,
        {"X-DocuSign-Signature-1": mac("the other key", body, encoding="base64"), "X-DocuSign-Signature-2": made}, body, [made])
    made = mac(secret, body + URL, "sha1", "base64")
    put("trello", "recipe", PYTHON, secret, {"X-Trello-Webhook": made}, body, [made])
    made = mac(secret, f"{ISO}{body}", encoding="base64")
    put("zendesk", "recipe", PYTHON, secret,
        {"X-Zendesk-Webhook-Signature": made, "X-Zendesk-Webhook-Signature-Timestamp": ISO}, body, [made])
    made = mac(secret, f"v0:{T}:{body}")
    put("zoom", "recipe", PYTHON, secret, {"x-zm-signature": "v0=" + made, "x-zm-request-timestamp": str(T)}, body, [made])
    made = mac(secret, f"{T}:{body}")
    put("grafana_timestamp", "recipe", PYTHON, secret,
        {"X-Grafana-Alerting-Signature": made, "X-Grafana-Alerting-Timestamp": str(T)}, body, [made])
    made = mac(secret, f"{T}.{body}")
    put("calendly", "recipe", PYTHON, secret, {"Calendly-Webhook-Signature": f"t={T},v1={made}"}, body, [made])
    made = mac(secret, f"b1946ac9{ISO}{body}")
    put("twitch", "recipe", PYTHON, secret,
        {"Twitch-Eventsub-Message-Id": "b1946ac9", "Twitch-Eventsub-Message-Timestamp": ISO,
         "Twitch-Eventsub-Message-Signature": "sha256=" + made}, body, [made])

# Senders that sign nothing: what they send is the secret.
SHARED = "The secret as it is, by the vendor's documentation"
for body, secret in zip(BODIES, [*SECRETS[:2], "A-third+token/of=theirs"]):
    for preset, header in [("gitlab", "X-Gitlab-Token"), ("okta", "Authorization"), ("auth0", "Authorization"),
                           ("deepgram", "dg-token"), ("adobe_sign", "X-AdobeSign-ClientId")]:
        put(preset, "recipe", SHARED, secret, {header: secret}, body, [secret])
    put("cloudevents", "recipe", SHARED, secret, {"Authorization": f"Bearer {secret}", "ce-id": "1"}, body, [secret])
    graph = json.dumps({"value": [{"id": "n1", "clientState": secret, "changeType": "updated"}]})
    put("microsoft_graph", "recipe", SHARED, secret, {}, graph, [secret])
    for preset in ["postmark", "chargebee"]:
        basic = base64.b64encode(f"hook:{secret}".encode()).decode()
        put(preset, "recipe", "Python's base64, by RFC 7617", f"hook:{secret}", {"Authorization": f"Basic {basic}"}, body, [basic])
for body, secret in zip(BODIES, ["Abc-123_x.y~z", "0f1e2d3c4b5a6978", "Another_Token"]):
    put("strava", "recipe", SHARED, secret, {}, body, [secret], url=f"{URL}?token={secret}")
    put("event_grid", "recipe", SHARED, secret, {"aeg-event-type": "Notification"}, body, [secret], url=f"{URL}?code={secret}")

# Standard Webhooks and Svix, by their own libraries.
from standardwebhooks.webhooks import Webhook as Standard
from svix.webhooks import Webhook as Svix
from nacl.signing import SigningKey

WHSEC = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_plJ3nmyCDGBKInavdOK15jsl", "whsec_" + base64.b64encode(bytes(range(200, 232))).decode()]
AT = datetime.fromtimestamp(T, tz=timezone.utc)
for number, (body, secret) in enumerate(zip(BODIES, WHSEC)):
    message = f"msg_{number}KWPBgLlAfxdpx2AI54pPJ85f4W"
    for preset in ["standard_webhooks", "openai", "replicate", "gitlab_signing"]:
        signed = Standard(secret).sign(msg_id=message, timestamp=AT, data=body)
        headers = {"webhook-id": message, "webhook-timestamp": str(T), "webhook-signature": f"v1,bm90IHRoaXMgb25l {signed}"}
        put(preset, "library", f"standardwebhooks {version('standardwebhooks')} (PyPI), Webhook.sign", secret, headers, body, [signed[3:]])
    for preset in ["svix", "clerk", "resend"]:
        signed = Svix(secret).sign(msg_id=message, timestamp=AT, data=body)
        headers = {"svix-id": message, "svix-timestamp": str(T), "svix-signature": signed}
        put(preset, "library", f"svix {version('svix')} (PyPI), Webhook.sign", secret, headers, body, [signed[3:]])
    key = SigningKey(hashlib.sha256(secret.encode()).digest())
    made = base64.b64encode(key.sign(f"{message}.{T}.{body}".encode()).signature).decode()
    public = "whpk_" + base64.b64encode(bytes(key.verify_key)).decode()
    put("standard_webhooks_ed25519", "recipe", f"PyNaCl {version('PyNaCl')}, by the recipe of the specification", public,
        {"webhook-id": message, "webhook-timestamp": str(T), "webhook-signature": f"v1a,{made}"}, body, [made])
    # Discord's documentation verifies by PyNaCl, as its library does.
    from discord_interactions import verify_key
    made = key.sign(str(T).encode() + body.encode()).signature.hex()
    public = bytes(key.verify_key).hex()
    assert verify_key(body.encode(), made, str(T), public)
    put("discord", "checked", f"PyNaCl {version('PyNaCl')}, accepted by discord-interactions {version('discord-interactions')} (PyPI)", public,
        {"X-Signature-Ed25519": made, "X-Signature-Timestamp": str(T)}, body, [made])

# Published by Svix and by the specification.
put("svix", "published", "https://docs.svix.com/receiving/verifying-payloads/how-manual", "whsec_plJ3nmyCDGBKInavdOK15jsl",
    {"svix-id": "msg_loFOjxBNrRLzqYUf", "svix-timestamp": "1731705121", "svix-signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="},
    '{"event_type":"ping","data":{"success":true}}', ["rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="], now=1731705121)

# Slack.
from slack_sdk.signature import SignatureVerifier
for body, secret in zip([BODIES[0], BODIES[1], "token=xyz&team_id=T1&text=caf%C3%A9"], SECRETS):
    made = SignatureVerifier(secret).generate_signature(timestamp=str(T), body=body)
    put("slack", "library", f"slack-sdk {version('slack-sdk')} (PyPI), SignatureVerifier.generate_signature", secret,
        {"X-Slack-Signature": made, "X-Slack-Request-Timestamp": str(T)}, body, [made[3:]])
SLACK = ("token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
         "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com"
         "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c")
made = "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
put("slack", "published", "https://docs.slack.dev/authentication/verifying-requests-from-slack/", "8f742231b10e8888abcd99yyyzzz85a5",
    {"X-Slack-Signature": "v0=" + made, "X-Slack-Request-Timestamp": "1531420618"}, SLACK, [made], now=1531420618)

# Stripe.
import stripe
for body, secret in zip(BODIES, WHSEC):
    made = stripe.WebhookSignature._compute_signature(f"{T}.{body}", secret)
    header = f"t={T},v1={made},v0={mac(secret, 'not looked at')}"
    stripe.WebhookSignature.verify_header(body, header, secret, tolerance=300)
    put("stripe", "library", f"stripe {version('stripe')} (PyPI), WebhookSignature", secret, {"Stripe-Signature": header}, body, [made])

# Twilio: forms, and JSON by a digest in the URL.
from twilio.request_validator import RequestValidator
from urllib.parse import urlencode
TWILIO = f"twilio {version('twilio')} (PyPI), RequestValidator.compute_signature"
FORM = "application/x-www-form-urlencoded"
for url, form, secret in [
    (URL, {"CallSid": "CA1", "From": "+14158675309", "Body": "Zoë & co = 1"}, SECRETS[0]),
    (URL + "?foo=1&bar=2", {"Digits": "1234", "AccountSid": "AC1", "to": "+1", "To": "+2"}, SECRETS[1]),
]:
    made = RequestValidator(secret).compute_signature(url, form)
    assert RequestValidator(secret).validate(url, form, made)
    put("twilio", "library", TWILIO, secret, {"X-Twilio-Signature": made, "Content-Type": FORM}, urlencode(form), [made], url=url)
for body, secret in zip(BODIES[:2], SECRETS):
    url = f"{URL}?bodySHA256={hashlib.sha256(body.encode()).hexdigest()}"
    made = RequestValidator(secret).compute_signature(url, {})
    assert RequestValidator(secret).validate(url, body, made)
    put("twilio", "library", TWILIO, secret, {"X-Twilio-Signature": made, "Content-Type": "application/json"}, body, [made], url=url)
# Their documentation has had three examples over the years.
CALL = {"CallSid": "CA1234567890ABCDE", "Digits": "1234", "To": "+18005551212"}
for host, caller, made in [("mycompany.com", "+14158675309", "RSOYDt4T1cUTdK1PDd93/VVr8B8="),
                           ("mycompany.com", "+12349013030", "0/KCTR6DLpKmkAf8muzZqo1nDgQ="),
                           ("example.com", "+14158675310", "L/OH5YylLD5NRKLltdqwSvS0BnU=")]:
    form = urlencode({**CALL, "Caller": caller, "From": caller})
    put("twilio", "published", "https://www.twilio.com/docs/usage/webhooks/webhooks-security", "12345",
        {"X-Twilio-Signature": made, "Content-Type": FORM}, form, [made], url=f"https://{host}/myapp.php?foo=1&bar=2")

# SendGrid.
from sendgrid.helpers.eventwebhook import EventWebhook
for body in BODIES:
    key = ec.generate_private_key(ec.SECP256R1())
    spki = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    public = base64.b64encode(spki).decode()
    made = base64.b64encode(key.sign((str(T) + body).encode(), ec.ECDSA(hashes.SHA256()))).decode()
    assert EventWebhook(public).verify_signature(body, made, str(T))
    put("sendgrid", "checked", f"cryptography {version('cryptography')}, accepted by sendgrid {version('sendgrid')} (PyPI)", public,
        {"X-Twilio-Email-Event-Webhook-Signature": made, "X-Twilio-Email-Event-Webhook-Timestamp": str(T)}, body, [made])

# Mailgun.
from mailgun.security import SecurityGuard
for number, secret in enumerate(SECRETS):
    token = hashlib.sha256(secret.encode()).hexdigest()[:50]
    made = mac(secret, f"{T}{token}")
    body = json.dumps({"signature": {"timestamp": str(T), "token": token, "signature": made},
                       "event-data": {"id": f"m{number}", "event": "delivered"}})
    assert SecurityGuard.verify_webhook(secret, token, str(T), made)
    put("mailgun", "checked", f"Python's hmac, accepted by mailgun {version('mailgun')} (PyPI)", secret, {}, body, [made])

# Adyen.
from Adyen.util import generate_notification_sig, generate_payload_sig, is_valid_hmac_notification
HEX = ["44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056", "00ff" * 16, "a1b2c3d4" * 8]
for number, secret in enumerate(HEX):
    item = {"pspReference": f"79140733813422{number}", "merchantAccountCode": "TestMerchant",
            "merchantReference": f"TestPayment-{number}", "amount": {"value": 1130 + number, "currency": "EUR"},
            "eventCode": "AUTHORISATION", "success": "true"}
    if number:
        item["originalReference"] = "8313842560770001"
    made = generate_notification_sig(item, secret).decode()
    body = {"live": "false", "notificationItems": [{"NotificationRequestItem": {**item, "additionalData": {"hmacSignature": made}}}]}
    assert is_valid_hmac_notification(body, secret)
    put("adyen", "library", f"Adyen {version('Adyen')} (PyPI), generate_notification_sig", secret, {}, json.dumps(body), [made])
    made = generate_payload_sig(BODIES[number].encode(), secret).decode()
    put("adyen_platform", "library", f"Adyen {version('Adyen')} (PyPI), generate_payload_sig", secret, {"HmacSignature": made}, BODIES[number], [made])
made = "coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0="
item = {"pspReference": "7914073381342284", "merchantAccountCode": "TestMerchant", "merchantReference": "TestPayment-1407325143704",
        "amount": {"value": 1130, "currency": "EUR"}, "eventCode": "AUTHORISATION", "success": "true", "additionalData": {"hmacSignature": made}}
put("adyen", "published", "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures", HEX[0], {},
    json.dumps({"notificationItems": [{"NotificationRequestItem": item}]}), [made])


# Certificates: PayPal and SNS sign with RSA, and say where the certificate is.
def certificate(name):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(datetime(2025, 1, 1)).not_valid_after(datetime(2035, 1, 1))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True).sign(key, hashes.SHA256()))
    return key, made.public_bytes(serialization.Encoding.PEM).decode()


def rsa_sign(key, text, digest):
    return base64.b64encode(key.sign(text.encode(), padding.PKCS1v15(), digest)).decode()


from paypalrestsdk.notifications import WebhookEvent
for number, body in enumerate(BODIES):
    key, pem = certificate("messageverificationcerts.paypal.com")
    transmission, webhook = f"69cd13f0-d67a-11e5-baa3-778b53f4ae{number:02}", "1JE4291016473214C"
    text = WebhookEvent._get_expected_sig(transmission, ISO, webhook, body)
    assert text.endswith(str(zlib.crc32(body.encode())))
    made = rsa_sign(key, text, hashes.SHA256())
    where = f"https://api.paypal.com/v1/notifications/certs/CERT-360caa42-{number}"
    put("paypal", "checked", f"cryptography {version('cryptography')} over the text of paypalrestsdk {version('paypalrestsdk')} (PyPI)", None,
        {"PAYPAL-TRANSMISSION-ID": transmission, "PAYPAL-TRANSMISSION-TIME": ISO, "PAYPAL-TRANSMISSION-SIG": made,
         "PAYPAL-CERT-URL": where, "PAYPAL-AUTH-ALGO": "SHA256withRSA"}, body, [made],
        parameters={"webhook_id": webhook}, keys=[{"url": where, "document": pem}])

# JSON Web Tokens.
JWT = f"PyJWT {version('PyJWT')} (PyPI)"


def digest(body, encoding):
    made = hashlib.sha256(body.encode())
    return made.hexdigest() if encoding == "hex" else base64.b64encode(made.digest()).decode()


for number, body in enumerate(BODIES):
    claims = {"request_body_sha256": digest(body, "base64"), "iss": "acme.example"}
    secret = SECRETS[0] + "-of-at-least-sixty-four-bytes-so-that-it-is-long-enough-for-HS512"
    made = jwt.encode(claims, secret, ["HS256", "HS384", "HS512"][number])
    put("fusionauth", "library", JWT, secret, {"X-FusionAuth-Signature-JWT": made}, body, [made])
    key, _ = certificate("fusionauth")
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    made = jwt.encode(claims, key, ["RS256", "RS384", "RS512"][number], headers={"kid": "k1"})
    put("fusionauth", "library", JWT, public, {"X-FusionAuth-Signature-JWT": made}, body, [made])
    for curve, algorithm in [(ec.SECP256R1(), "ES256"), (ec.SECP384R1(), "ES384")][: 2 if number == 0 else 0]:
        key = ec.generate_private_key(curve)
        public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        made = jwt.encode(claims, key, algorithm)
        put("fusionauth", "library", JWT, public, {"X-FusionAuth-Signature-JWT": made}, body, [made])
    made = jwt.encode({"exp": T + 300, "userId": number}, SECRETS[0] * 2, "HS256")
    put("monday", "library", JWT, SECRETS[0] * 2, {"Authorization": made}, body, [made])
    key = ec.generate_private_key(ec.SECP256R1())
    jwk = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
    kid = f"bfbd5111-8e33-4643-8ced-b2e642a72f3{number}"
    made = jwt.encode({"iat": T, "request_body_sha256": digest(body, "hex")}, key, "ES256", headers={"kid": kid})
    document = json.dumps({"key": {**jwk, "kid": kid, "use": "sig", "alg": "ES256", "created_at": T, "expired_at": None}, "request_id": "r1"})
    put("plaid", "library", JWT, "plaid-secret", {"Plaid-Verification": made}, body, [made],
        parameters={"client_id": "client-1", "environment": "production"},
        keys=[{"url": "https://production.plaid.com/webhook_verification_key/get",
               "body": {"client_id": "client-1", "secret": "plaid-secret", "key_id": kid}, "document": document}])
    # Upsun's documentation: HS256, with the payload detached and not encoded.
    secret = SECRETS[0] * 2
    whole = jwt.api_jws.encode(body.encode(), secret, "HS256", is_payload_detached=True)
    head, _, tail = whole.split(".")
    made = f"{head}..{tail}"
    put("upsun", "library", JWT + ", api_jws.encode", secret, {"X-JWS-Signature": made}, body, [made])

for preset, made in vectors.items():
    path = HERE.parent / f"{preset}.json"
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
print(len(vectors), "presets,", sum(map(len, vectors.values())), "vectors")
