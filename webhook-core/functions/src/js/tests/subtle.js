// Signatures of RFC 8032 and RFC 6979, and of OpenSSL for RSA, of the text "sample".
const wrong = [], { subtle } = crypto, sample = new TextEncoder().encode("sample");
const raw = (text) => base64.decode(text, true), hexed = (text) => hex.decode(text, true);
const check = (name, came, wanted) => { if (came !== wanted) wrong.push(`${name}: ${came}, not ${wanted}`); };
const fails = async (name, run, wanted) => {
  try { await run(); wrong.push(name + " does not fail"); } catch (error) { check(name, error.name, wanted); }
};

const one = hexed("72"), own = { name: "Ed25519" };
const signature = hexed("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
const edPublic = await subtle.importKey("raw", hexed("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"), own, true, ["verify"]);
const edPrivate = await subtle.importKey("pkcs8", hexed("302e020100300506032b6570042204204ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"), "Ed25519", false, ["sign"]);
check("Ed25519 verifies", await subtle.verify("Ed25519", edPublic, signature, one), true);
check("Ed25519 sees another text", await subtle.verify(own, edPublic, signature, sample), false);
check("Ed25519 signs", hex.encode(new Uint8Array(await subtle.sign("Ed25519", edPrivate, one))), hex.encode(signature));
check("types", edPublic.type + edPrivate.type + edPublic.algorithm.name, "publicprivateEd25519");

const curve = { name: "ECDSA", namedCurve: "P-256" }, by = { name: "ECDSA", hash: "SHA-256" };
const point = hexed("0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");
const ecSignature = hexed("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8");
const ecPublic = await subtle.importKey("raw", point, curve, true, ["verify"]);
check("ECDSA verifies", await subtle.verify(by, ecPublic, ecSignature, sample), true);
const ecPrivate = await subtle.importKey("pkcs8", raw("MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQT13kLsScX2aW3KfxjPbf9vM76FJSZ8fJysGHSbswqKhRANCAASkEMaMmII9PVOfs2QExvXaDoLO6mjN/ZYfmHbV6mNIAWCI66nnj/9ZGpfkI3EkqQf0bhR9qJkZBPp3LNBnFvQ5"), curve, false, ["sign"]);
check("ECDSA signs", (await subtle.sign(by, ecPrivate, sample)).byteLength, 64);

const rs = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-384" }, ps = { name: "RSA-PSS", hash: "SHA-256" };
const rsSignature = raw("n/VqM/s4aN3pibwVeAyBml8OHkeIzO43QYsEJ65RfhY49cMGZ9O7rVMWsfHOsQ44kR+sHmlVU+9fLO+RKznowF7fmrzjluAEoSOeOR6fcRn8ba7H3czRFSfRG2Q7235yR7iVM/ZqqLY5pnwmV5JDjullgTXKtMgcoSgpgYPFydasS5LfsfBqkBSZWG2Kyoz+gwUVcWHxCfZBMkdPO2+Ex17wiA1hVD/HO9/v6jra3H8043lzX98ILcYNCSAawDmDwzM9015OF0iN328u4sd+rJtyFrLU0dnC0SmgAYPpiMWVQ9pFnVycBpzDkbFN4twPYxCShIE8czaaQiY7BfZf5Q=="), psSignature = raw("a7XNVQ5djD/CADoVteLvBVhkeOi9/heigunHdCwEx3FBPiarX4rkAOia66S8n1CsCfxj2ddT/BjhUpcYiuTrDWRcKwyBAjvWoKz11DnMJ6U1zn0dZRpAl1OOHpAPUhEbiWxCupZeX5DFKQAJ1Sxmgcdksyws1kf0HqRzPCJwb9nCkf/qFOPRQcj0B1Jmp/x9rAVq87wywNQP87HJ+5rfUf3EhDxoCwmjwLO8B3sdYNsalAtkdh0iw3rQ0EowfJ4B8NdI52P494bqd3Z2VrpOD2CngGtw0VpPNnHaek053aAIPVfpjP0zxKImeFhadh9F18prfyXFZflmX4zXvaWCig==");
const pkcs8 = raw("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDIBvqf5e6C16KYS+jYKUOKYyN1WuzbtuTR7KdkunOXPyXAKjvE5g8rf6ZTgms/oVgyhUO1qTo7MIG/hLY8YjZIOFS55OVPws0mlm9xMOnv4TYAMOJMzAelTMP7YEakt1JFKMZcBoQ7Asl9nfPyRjiIQRpasWigVutxJHsW3pJpH49dF2ceqgv9ZQs8fxCTH0oW4PbFQ7iOlqK+NeB+1sVYu6y32zBeMigoJEJb4ix570TOcab1ihorIX5DFt32vsPl+mJNPK8DEIsRKYAJzxYmDer9xydXtQS6fymwJWemz7sVfnUnDQ5rSnhd3OhVlZlOSSM1pSiaDP6d0xigEU6NAgMBAAECggEAGELocS6FYG9hNFG4u0c9/vIJYfmWUwv68w9eOlR3IrgxDv7QYxB4dJE2Dlj6QyyBsxcA4G7XNkiq5BznsalD5jyW4jlGKwd4tJ54g+Un6sWJNDq5qBDzOHR4LOw/hUkK/IJ2lMDhlvq+j7Lx3MfxoW0sEiYEh7YjNoTzPRHf9kn7Y1CTmobcTCE9jGHpBC4oYttHXKCQjWr1rg6oW7pOu4pv5RG1Im//CH0B6KCP4NJWLpaa4Ah5fO6CHSgdVyFnzHKoJht0sKDuGhNMpYDL+qRyZ1OWIUoOwLACheGyNlyuQQEbXLD1Jgf0X1goUpmOutJVkVZJFuOTV/QR8/Qz7QKBgQD+/fV6uR25zTZHATWrBTYNVK5wkDICI+3jKyVq7w2R4ykFqTkLfSLXsnob5PnAi53NIWBCnn8ucxXSkL3bjAS3NL3CRtzIIVTArQfEQk9Yd+dN4VyRkC67ntPuL+IHSWDJOXqHVaLq4z3YJenxgs6RArxdt8FW1Y+83LeJhkhYnwKBgQDI0WXpVXZ1lQhKovDZ+T7q3CpmxyejewDDJhIWm6X0HcaV8Jk/s5TrQUPq9fmSHTPGKa1Y6zVBBIiHefslrH+I6bXToBpxCjIW4OoXeWMHzYFNaQA6ezlgwUa2fyECpUlwHUis7krfYqfXqp14Q6kzHa/91FVtDlCMY6JwFhONUwKBgALLKXtUt9ynQOb6PmpHPlZbDSYyjjmzxxFsEZbgU5e7k2F6fyN/FXijfe78TTgsz2fF69YPAnmxzRVnfI0BNbQEIegU+qo+oz0RKDqgN1pSxff2dhsqJzjq/otnfuRxi1vpA0ykRYqpPq41jCCXPEgebY3hS372DAMXr/MTw4slAoGBAMHKsVo3CxX1OAcurtbq3Hiw9oowbmQo81dfid0fX0rw4Q8ZHAqJNpDAbtZzgOAsJiZ5WbuRX9balRaH9IEqsfhh8QHEYz/q4uOJMN5uWc7R1pHpXjsRZxGj8qVykVyIPRJgcB3R55cjEW3iTAwe301gvNFq8vVG9xxDmiIoa73ZAoGAVZatnSqz2vBHWB/9M+GKZkf7gbSNnHus7GPJ7GRCkqst+9QCmnCSK/07Ya3kKWeIxFkEioxOKUvKDswQZ1If86N92wC93J/Qt5AJFEEu2G/7yKqlkhxQCVwTv19tg9ec1L1HbfP/87/LqTXb9Wl89uxcDyL1nzkmYvBK97oQWxo="), spki = raw("MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAyAb6n+XugteimEvo2ClDimMjdVrs27bk0eynZLpzlz8lwCo7xOYPK3+mU4JrP6FYMoVDtak6OzCBv4S2PGI2SDhUueTlT8LNJpZvcTDp7+E2ADDiTMwHpUzD+2BGpLdSRSjGXAaEOwLJfZ3z8kY4iEEaWrFooFbrcSR7Ft6SaR+PXRdnHqoL/WULPH8Qkx9KFuD2xUO4jpaivjXgftbFWLust9swXjIoKCRCW+Isee9EznGm9YoaKyF+Qxbd9r7D5fpiTTyvAxCLESmACc8WJg3q/ccnV7UEun8psCVnps+7FX51Jw0Oa0p4XdzoVZWZTkkjNaUomgz+ndMYoBFOjQIDAQAB");
const rsPublic = await subtle.importKey("spki", spki, rs, true, ["verify"]), rsPrivate = await subtle.importKey("pkcs8", pkcs8, rs, false, ["sign"]);
check("RSA verifies", await subtle.verify(rs, rsPublic, rsSignature, sample), true);
check("RSA sees another text", await subtle.verify(rs, rsPublic, rsSignature, one), false);
check("RSA signs", base64.encode(new Uint8Array(await subtle.sign(rs, rsPrivate, sample))), base64.encode(rsSignature));
const psPublic = await subtle.importKey("spki", spki, ps, true, ["verify"]), salted = { name: "RSA-PSS", saltLength: 32 };
check("RSA-PSS verifies", await subtle.verify(salted, psPublic, psSignature, sample), true);
const psPrivate = await subtle.importKey("pkcs8", pkcs8, ps, false, ["sign"]);
check("RSA-PSS signs", await subtle.verify(salted, psPublic, await subtle.sign(salted, psPrivate, sample), sample), true);

await fails("a public key that signs", () => subtle.sign("Ed25519", edPublic, one), "InvalidAccessError");
await fails("a key of another algorithm", () => subtle.sign(rs, edPrivate, one), "InvalidAccessError");
await fails("a usage", () => subtle.importKey("spki", spki, rs, true, ["sign"]), "SyntaxError");
await fails("a curve", () => subtle.importKey("raw", point, { name: "ECDSA", namedCurve: "P-521" }, true, ["verify"]), "NotSupportedError");
await fails("a hash of the curve", () => subtle.verify({ name: "ECDSA", hash: "SHA-512" }, ecPublic, ecSignature, sample), "NotSupportedError");
await fails("a salt", () => subtle.verify({ name: "RSA-PSS", saltLength: 20 }, psPublic, psSignature, sample), "NotSupportedError");
await fails("a pair that is generated", () => subtle.generateKey(own, true, ["sign"]), "NotSupportedError");
await fails("a private key that is exported", () => subtle.exportKey("raw", edPublic), "NotSupportedError");
const broken = await subtle.importKey("pkcs8", one, rs, false, ["sign"]);
await fails("a key that is none", () => subtle.sign(rs, broken, one), "OperationError");
r.body = wrong.join("\n");
