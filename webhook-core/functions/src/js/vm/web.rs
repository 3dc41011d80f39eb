//! What the names of the web need of the host.

use super::{
    host::Host,
    modules::{Answer, Arguments},
};
use crate::modules::{
    ModuleError, cipher,
    compression::Format,
    encoding,
    keys::{self, Private},
    random,
    signature::Scheme,
    url,
};

/// The scheme that is the first argument.
fn scheme(given: &Arguments) -> Result<Scheme, ModuleError> {
    Scheme::named(given.text(0)).ok_or_else(|| ModuleError::invalid("no such scheme"))
}

/// A function of `web.js`, `subtle.js` or `crypto` by its name, without `web.`.
pub(super) fn call(host: &Host, name: &str, given: &Arguments) -> Result<Answer, ModuleError> {
    let (mut bounds, longest) = (host.bounds(), host.limits.string_bytes);
    Ok(match name {
        "utf8" => {
            let data = given.data(0)?;
            match std::str::from_utf8(&data) {
                Err(_) if given.text(1) == "fatal" => {
                    return Err(ModuleError::invalid("the bytes are not UTF-8"));
                }
                _ => Answer::Text(String::from_utf8_lossy(&data).into_owned()),
            }
        }
        "bytes" => Answer::Bytes(given.data(0)?.into_owned()),
        "atob" => Answer::Text(encoding::atob(given.text(0))?),
        "btoa" => Answer::Text(encoding::btoa(given.text(0))?),
        "format" => Format::named(given.text(0)).map(|_| Answer::Flag(true))?,
        "compress" => {
            let format = Format::named(given.text(1))?;
            Answer::Bytes(format.compress(&given.data(0)?, &mut bounds, longest)?)
        }
        "decompress" => {
            let format = Format::named(given.text(1))?;
            Answer::Bytes(format.decompress(&given.data(0)?, &mut bounds, longest)?)
        }
        "url" => {
            let base = given.get(1);
            Answer::tree(&url::components(&url::resolve(given.text(0), base)?), &host.limits)?
        }
        "url_with" => {
            let url = url::with_component(given.text(0), given.text(1), given.text(2))?;
            Answer::tree(&url::components(&url), &host.limits)?
        }
        "query" => Answer::tree(&url::query_pairs(given.text(0), &mut bounds)?, &host.limits)?,
        "query_text" => Answer::Text(url::query_text(&given.tree(0, &mut bounds)?, longest)?),
        "sign" => {
            let key = given.data(1)?;
            let signature = scheme(given)?.sign(Private::Pkcs8(&key), &given.data(2)?)?;
            Answer::Bytes(signature)
        }
        "verify" => {
            let (key, data, signature) = (given.data(1)?, given.data(2)?, given.data(3)?);
            Answer::Flag(scheme(given)?.verify(&key, &data, &signature))
        }
        "public_key" => Answer::Bytes(keys::public_of_der(&given.data(0)?)?),
        "random" => {
            let count = given.text(0).parse().unwrap_or(usize::MAX);
            Answer::Bytes(random::bytes(count)?)
        }
        "uuid" => Answer::Text(random::uuid()?),
        "gcm_encrypt" | "gcm_decrypt" => {
            let encrypts = name == "gcm_encrypt";
            let run = if encrypts { cipher::encrypt_gcm } else { cipher::decrypt_gcm };
            let (data, key, iv) = (given.data(0)?, given.data(1)?, given.data(2)?);
            Answer::Bytes(run(&data, &key, &iv, &given.data(3)?)?)
        }
        _ => return Err(ModuleError::invalid(format!("no function web.{name}"))),
    })
}
