//! The modules `crypto`, `jwt`, `xml` and so on, for the part of them that is
//! in the prelude.

use std::{borrow::Cow, rc::Rc};

use base64::{Engine, engine::general_purpose::STANDARD};
use rquickjs::{Ctx, IntoJs, Object, Result as JsResult, Value};
use serde_json::Value as Tree;
use webhook_core::{
    encoding::Base64,
    function::ScriptLimits,
    store::{KV_MAX_NUMBER, KvValue},
};

use super::{add, host::Host, rows::JsonRows, web};
use crate::{
    js::limit::Limit,
    lua::bytes::{
        Budget,
        date::{self, Instant, Zone},
    },
    modules::{
        Bounds, ModuleError, Output, cipher, csv,
        digest::{self, Hash},
        encoding::{base64_decode, hex_decode, hex_encode},
        id, jmespath, jwt,
        kv::{Kv, NO_STORE},
        random, template,
        tree::{Reading, from_json},
        url, xml, yaml,
    },
};

/// Adds `module(name, form, arguments)`. Arguments are texts; where data may
/// be bytes, `t` before a text and `b` before base64 tell which it is. What
/// is bytes comes back in the form `bytes`, `hex` or `text`.
pub(super) fn install<'js>(host: &Rc<Host>, natives: &Object<'js>) -> JsResult<()> {
    let h = Rc::clone(host);
    let module = move |ctx: Ctx<'js>, name: String, form: String, arguments: Vec<String>| {
        if name.starts_with("kv.") && h.count_kv() > h.limits.kv_calls {
            return Err(h.exceed(&ctx, Limit::KvCalls));
        }
        let answered = call(&h, &name, &Arguments(arguments));
        match answered.and_then(|answer| answer.bounded(h.limits.string_bytes)) {
            Ok(answer) => answer.into_value(&ctx, &h, &form),
            Err(error) => Err(h.refuse(&ctx, &error)),
        }
    };
    add(natives, "module", module)
}

/// What a function of a module answers.
pub(super) enum Answer {
    Text(String),
    Bytes(Vec<u8>),
    /// A list or an object.
    Json(Vec<u8>),
    Flag(bool),
    Number(f64),
}

impl Answer {
    /// A tree, whose text must fit into the memory as well.
    pub(super) fn tree(tree: &Tree, limits: &ScriptLimits) -> Result<Self, ModuleError> {
        let mut json = Output::of_at_most(limits.memory_bytes);
        json.push_json(tree).map_err(|_| ModuleError::TooLarge)?;
        json.finish().map(Self::Json)
    }

    /// Fails when it is a text that is too long.
    fn bounded(self, longest: usize) -> Result<Self, ModuleError> {
        let length = match &self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Json(_) | Self::Flag(_) | Self::Number(_) => 0,
        };
        if length > longest { Err(ModuleError::TooLong) } else { Ok(self) }
    }

    fn into_value<'js>(self, ctx: &Ctx<'js>, host: &Host, form: &str) -> JsResult<Value<'js>> {
        match self {
            Self::Text(text) => text.into_js(ctx),
            Self::Bytes(bytes) => match form {
                "bytes" => host.give_bytes(ctx, &bytes)?.into_js(ctx),
                "hex" => hex_encode(&bytes).into_js(ctx),
                _ => String::from_utf8_lossy(&bytes).into_js(ctx),
            },
            Self::Json(json) => ctx.json_parse(json),
            Self::Flag(flag) => flag.into_js(ctx),
            Self::Number(number) => number.into_js(ctx),
        }
    }
}

pub(super) struct Arguments(Vec<String>);

impl Arguments {
    pub(super) fn text(&self, index: usize) -> &str {
        self.0.get(index).map_or("", String::as_str)
    }

    /// The text at `index`, if so many are given.
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        self.0.get(index).map(String::as_str)
    }

    pub(super) fn data(&self, index: usize) -> Result<Cow<'_, [u8]>, ModuleError> {
        let text = self.text(index);
        match text.strip_prefix('b') {
            Some(base64) => STANDARD
                .decode(base64)
                .map(Cow::Owned)
                .map_err(|_| ModuleError::invalid("not bytes")),
            None => Ok(Cow::Borrowed(text.strip_prefix('t').unwrap_or(text).as_bytes())),
        }
    }

    pub(super) fn tree(&self, index: usize, bounds: &mut Bounds) -> Result<Tree, ModuleError> {
        from_json(self.text(index).as_bytes(), bounds)?
            .map_err(|error| ModuleError::invalid(format!("value: {error}")))
    }
}

/// Key, value, number and seconds, of which what is not given is empty.
fn keep(host: &Host, name: &str, given: &Arguments) -> Result<Answer, ModuleError> {
    let owner = host.script.borrow().owner.ok_or_else(|| ModuleError::invalid(NO_STORE))?;
    let kv = Kv { owner, now: host.clock.now(), limits: &host.limits };
    let (key, seconds) = (given.text(0), given.text(3));
    let number = |text: &str, what| {
        text.parse::<f64>()
            .map_err(|_| ModuleError::invalid(format!("kv: {what} must be a number")))
    };
    let seconds = match seconds {
        "" => None,
        seconds => Some(number(seconds, "the time to keep a value")?),
    };
    let request = match name {
        "kv.get" => kv.get(key),
        "kv.set" => kv.set(key, given.data(1)?.into_owned(), seconds),
        "kv.incr" => match number(given.text(2), "what is added")? {
            by if by.fract() == 0.0 && by.abs() <= KV_MAX_NUMBER as f64 => {
                kv.increment(key, by as i64, seconds)
            }
            _ => Err(ModuleError::invalid("kv: what is added must be a whole number")),
        },
        _ => kv.remove(key),
    };
    match host.keep(request?).map_err(ModuleError::Invalid)? {
        Some(KvValue::Number(number)) if name == "kv.incr" => Ok(Answer::Number(number as f64)),
        Some(value) if name == "kv.get" => Ok(Answer::Bytes(value.into_bytes().to_vec())),
        _ => Ok(Answer::Json(b"null".to_vec())),
    }
}

fn call(host: &Host, name: &str, given: &Arguments) -> Result<Answer, ModuleError> {
    if let Some(name) = name.strip_prefix("web.") {
        return web::call(host, name, given);
    }
    let room = host.limits.memory_bytes;
    let longest = host.limits.string_bytes;
    let mut bounds = host.bounds();
    Ok(match name {
        "md5" | "sha1" | "sha256" | "sha384" | "sha512" => {
            Answer::Bytes(Hash::named(name)?.digest(&given.data(0)?))
        }
        "kv.get" | "kv.set" | "kv.incr" | "kv.delete" => keep(host, name, given)?,
        "crc32" => Answer::Bytes(digest::crc32(&given.data(0)?).to_vec()),
        "hmac" => {
            let hash = Hash::named(given.text(0))?;
            Answer::Bytes(hash.hmac(&given.data(1)?, &given.data(2)?))
        }
        "equal" => Answer::Flag(digest::equal(&given.data(0)?, &given.data(1)?)),
        "encrypt" | "decrypt" => {
            let run = if name == "encrypt" { cipher::encrypt } else { cipher::decrypt };
            let (data, key, iv) = (given.data(0)?, given.data(2)?, given.data(3)?);
            Answer::Bytes(run(&data, given.text(1), &key, &iv)?)
        }
        "base64.encode" => Answer::Text(Base64::Standard.encode(&given.data(0)?)),
        "base64.url_encode" => Answer::Text(Base64::UrlSafe.encode(&given.data(0)?)),
        "base64.decode" => Answer::Bytes(base64_decode(&given.data(0)?, Base64::Standard)?),
        "base64.url_decode" => Answer::Bytes(base64_decode(&given.data(0)?, Base64::UrlSafe)?),
        "hex.encode" => Answer::Text(hex_encode(&given.data(0)?)),
        "hex.decode" => Answer::Bytes(hex_decode(&given.data(0)?)?),
        "url.encode" => Answer::Text(url::encode(&given.data(0)?)),
        "url.decode" => Answer::Bytes(url::decode(&given.data(0)?)),
        "url.parse" => Answer::tree(&url::parse(given.text(0))?, &host.limits)?,
        "url.build" => Answer::Text(url::build(&given.tree(0, &mut bounds)?, longest)?),
        "url.encode_query" => {
            Answer::Text(url::encode_query(&given.tree(0, &mut bounds)?, longest)?)
        }
        "url.decode_query" => {
            Answer::tree(&url::decode_query(&given.data(0)?, &mut bounds)?, &host.limits)?
        }
        "jwt.sign" => {
            let algorithm = jwt::algorithm(given.text(2))?;
            let claims = given.tree(0, &mut bounds)?;
            Answer::Text(jwt::sign(&claims, &given.data(1)?, algorithm, longest)?)
        }
        "jwt.verify" => {
            let names = given.0.get(2..).unwrap_or_default().iter();
            let algorithms: Vec<_> =
                names.map(|name| jwt::algorithm(name)).collect::<Result<_, _>>()?;
            let now = host.clock.now().as_secs();
            let claims = jwt::verify(given.text(0), &given.data(1)?, &algorithms, now, bounds)?;
            Answer::tree(&claims, &host.limits)?
        }
        "xml.decode" => Answer::tree(&xml::decode(given.text(0), bounds)?, &host.limits)?,
        "xml.encode" => Answer::Bytes(xml::encode(&given.tree(0, &mut bounds)?, longest)?),
        "yaml.decode" => {
            let mut reading = Reading::within(&mut bounds);
            let tree = yaml::decode(given.text(0), room, &mut reading);
            reading.within_bounds()?;
            Answer::tree(&tree?, &host.limits)?
        }
        "yaml.encode" => Answer::Bytes(yaml::encode(&given.tree(0, &mut bounds)?, longest)?),
        "csv.decode" => {
            let mut rows = JsonRows::of_at_most(room);
            csv::decode(&given.data(0)?, dialect(given)?, room, &mut rows)?;
            Answer::Json(rows.finish()?)
        }
        "csv.encode" => {
            let rows = given.tree(0, &mut bounds)?;
            Answer::Bytes(csv::encode(&rows, dialect(given)?, longest)?)
        }
        "id.uuid" => Answer::Text(random::uuid()?),
        "id.uuid_v7" => Answer::Text(id::uuid_v7(host.clock.now())?),
        "id.ulid" => Answer::Text(id::ulid(host.clock.now())?),
        "id.nano_id" => {
            let length = given.get(0).map_or(Ok(id::NANO_LENGTH), str::parse);
            Answer::Text(id::nano_id(length.unwrap_or(0))?)
        }
        "jmespath.search" => {
            Answer::Bytes(jmespath::search(given.text(0), given.text(1), bounds, longest)?)
        }
        "template.render" => {
            let (template, values, escape) = (given.text(0), given.text(1), given.text(2));
            Answer::Bytes(template::render(template, values, escape, bounds, longest)?)
        }
        "time.now" => Answer::Number(host.clock.now().as_millis() as f64),
        "time.parse" => {
            let mut budget = budget(host);
            let (value, layout) = (given.text(0).as_bytes(), given.text(1).as_bytes());
            let instant = date::parse(value, layout, &zone(given.text(2))?, &mut budget);
            Answer::Number(instant.map_err(in_words)?.to_seconds())
        }
        "time.format" => {
            let seconds = given.text(0).parse().ok().and_then(Instant::from_seconds);
            let instant = seconds.ok_or_else(|| ModuleError::invalid("not a time"))?;
            let (mut budget, layout) = (budget(host), given.text(1).as_bytes());
            let text = date::format(instant, layout, &zone(given.text(2))?, &mut budget);
            Answer::Bytes(text.map_err(in_words)?)
        }
        _ => return Err(ModuleError::invalid(format!("no function {name}"))),
    })
}

fn budget(host: &Host) -> Budget {
    Budget::new(host.limits.pattern_steps, host.limits.string_bytes)
}

fn in_words(error: impl std::fmt::Display) -> ModuleError {
    ModuleError::invalid(error.to_string())
}

fn zone(name: &str) -> Result<Zone, ModuleError> {
    if name.is_empty() { Ok(Zone::utc()) } else { Zone::named(name).map_err(in_words) }
}

/// Argument 1 is the delimiter, argument 2 says whether there is a header.
fn dialect(given: &Arguments) -> Result<csv::Dialect, ModuleError> {
    let mut dialect = csv::Dialect { header: given.text(2) == "true", ..Default::default() };
    match given.text(1).as_bytes() {
        [] => {}
        [delimiter] if !matches!(delimiter, b'"' | b'\n' | b'\r') => dialect.delimiter = *delimiter,
        _ => return Err(ModuleError::invalid("csv: delimiter must be one character")),
    }
    Ok(dialect)
}
