"""Makes vectors.json: signatures by the libraries that receivers verify with.

    pip install standardwebhooks==1.1.0 svix==2.9.1 cryptography==48.0.0 stripe
    python make_vectors.py > vectors.json
"""

import base64
import datetime
import hashlib
import hmac
import json

import standardwebhooks
import stripe
import svix
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MOMENT = 1614265330
WHEN = datetime.datetime.fromtimestamp(MOMENT, tz=datetime.timezone.utc)
OLD, NEW = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_" + base64.b64encode(bytes(range(64))).decode()
BODIES = ['{"test": 2432232314}', "", "Grüße\n", "a" * 300]


def ed25519(seed, identifier, body):
    key = Ed25519PrivateKey.from_private_bytes(seed)
    return "v1a," + base64.b64encode(key.sign(f"{identifier}.{MOMENT}.{body}".encode())).decode()


vectors = []
for number, body in enumerate(BODIES):
    identifier = f"msg_{number}"
    for made_by, library in [("standardwebhooks 1.1.0", standardwebhooks), ("svix 2.9.1", svix)]:
        sign = lambda secret: library.Webhook(secret).sign(identifier, WHEN, body)
        for secrets in [[OLD], [NEW], [NEW, OLD]]:
            vectors.append(dict(made_by=made_by, format="standard_webhooks", secrets=secrets, id=identifier, body=body,
                                signature=" ".join(map(sign, secrets))))
    for seed in [bytes(32), bytes(range(32))]:
        public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        for key in [seed, seed + public]:
            vectors.append(dict(made_by="cryptography 48.0.0", format="ed25519", id=identifier, body=body,
                                secrets=["whsk_" + base64.b64encode(key).decode()],
                                signature=ed25519(seed, identifier, body)))
    for secret in ["It's a Secret to Everybody", "whsec_test"]:
        digest = hmac.new(secret.encode(), body.encode(), hashlib.sha256).hexdigest()
        vectors.append(dict(made_by="hmac of Python", format="hmac_body", secrets=[secret], id=identifier, body=body,
                            signature=f"sha256={digest}"))
        signature = stripe.WebhookSignature._compute_signature(f"{MOMENT}.{body}", secret)
        vectors.append(dict(made_by=f"stripe {stripe.VERSION}", format="hmac_timestamp_body", secrets=[secret],
                            id=identifier, body=body, signature=f"t={MOMENT},v1={signature}"))

# Published: https://github.com/standard-webhooks/standard-webhooks and
# https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
vectors.append(dict(made_by="the tests of Standard Webhooks", format="standard_webhooks", secrets=[OLD],
                    id="msg_p5jXN8AQM9LWM0D4loKWxJek", body='{"test": 2432232314}',
                    signature="v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="))
vectors.append(dict(made_by="the documentation of GitHub", format="hmac_body", secrets=["It's a Secret to Everybody"],
                    id="x", body="Hello, World!",
                    signature="sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"))
print(json.dumps(vectors, indent=1, ensure_ascii=False))
