//! What the `OTEL_*` variables say.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use percent_encoding::percent_decode_str;

use crate::sampler::Sampler;

/// The spans that are sent, and their address, as the standard `OTEL_*` variables say.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where spans are sent.
    pub(crate) endpoint: Uri,
    /// What is sent with them: credentials, most likely.
    pub(crate) headers: HeaderMap,
    /// How long the collector may take.
    pub(crate) timeout: Duration,
    /// What every span is said to come from.
    pub(crate) resource: Vec<(String, String)>,
    pub(crate) sampler: Sampler,
    /// Whether traces go on that senders have begun, and on to destinations.
    pub(crate) propagates: bool,
    /// How long spans wait for others.
    pub(crate) delay: Duration,
    /// How many spans may wait; further ones are dropped.
    pub(crate) max_waiting: usize,
    /// How many spans are sent together.
    pub(crate) max_batch: usize,
}

/// A variable that says what cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {reason}")]
pub struct InvalidVariable {
    variable: &'static str,
    reason: String,
}

impl Settings {
    /// What the variables say; nothing when no collector is named or tracing is off.
    ///
    /// # Errors
    /// A variable has a value that is not possible here.
    ///
    /// ```
    /// use webhook_otel::Settings;
    ///
    /// let variable = |name: &str| {
    ///     (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "http://localhost:4318".to_owned())
    /// };
    /// assert!(Settings::read(variable)?.is_some());
    /// assert!(Settings::read(|_| None)?.is_none());
    /// # Ok::<(), webhook_otel::InvalidVariable>(())
    /// ```
    pub fn read(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, InvalidVariable> {
        // An empty one counts as one that is not set.
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let is_off = set("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"))
            || set("OTEL_TRACES_EXPORTER").is_some_and(|it| it == "none");
        let Some(endpoint) = endpoint(&set)?.filter(|_| !is_off) else { return Ok(None) };
        let protocol = first(&set, &[TRACES_PROTOCOL, PROTOCOL]);
        if let Some((variable, other)) = protocol.filter(|(_, it)| it != "http/protobuf") {
            let reason = format!("{other} is not spoken here, only http/protobuf");
            return Err(InvalidVariable { variable, reason });
        }
        let sampler = set(SAMPLER).unwrap_or_else(|| "parentbased_always_on".to_owned());
        let argument = set("OTEL_TRACES_SAMPLER_ARG");
        let sampler = Sampler::named(&sampler, argument.as_deref())
            .map_err(|reason| InvalidVariable { variable: SAMPLER, reason })?;
        let propagators = set("OTEL_PROPAGATORS");
        let max_waiting = number(&set, "OTEL_BSP_MAX_QUEUE_SIZE", 2_048)?.clamp(1, MAX_WAITING);
        let max_batch = number(&set, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)?.max(1);
        Ok(Some(Self {
            endpoint,
            headers: headers(&set)?,
            timeout: match first(&set, &[TRACES_TIMEOUT, TIMEOUT]) {
                Some((variable, _)) => Duration::from_millis(number(&set, variable, 0)?),
                None => Duration::from_secs(10),
            },
            resource: resource(&set)?,
            sampler,
            propagates: propagators.is_none_or(|it| it.split(',').any(|it| it == "tracecontext")),
            delay: Duration::from_millis(number(&set, "OTEL_BSP_SCHEDULE_DELAY", 5_000)?),
            max_waiting: usize::try_from(max_waiting).unwrap_or(usize::MAX),
            max_batch: usize::try_from(max_batch.min(max_waiting)).unwrap_or(usize::MAX),
        }))
    }
}

const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const TRACES_PROTOCOL: &str = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const TRACES_HEADERS: &str = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";
const TRACES_TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT";
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
/// Whatever is asked for: what waits is in memory.
const MAX_WAITING: u64 = 65_536;

type Set<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The first of these variables that is set.
fn first(set: &Set<'_>, names: &[&'static str]) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| Some((*name, set(name)?)))
}

fn number(set: &Set<'_>, variable: &'static str, default: u64) -> Result<u64, InvalidVariable> {
    let Some(text) = set(variable) else { return Ok(default) };
    let reason = || format!("{text} is no number");
    text.trim().parse().map_err(|_| InvalidVariable { variable, reason: reason() })
}

fn endpoint(set: &Set<'_>) -> Result<Option<Uri>, InvalidVariable> {
    let Some((variable, text)) = first(set, &[TRACES_ENDPOINT, ENDPOINT]) else { return Ok(None) };
    let url = match variable {
        ENDPOINT => format!("{}/v1/traces", text.trim_end_matches('/')),
        _ => text.clone(),
    };
    let url = url.parse::<Uri>().ok().filter(|url| {
        url.authority().is_some() && matches!(url.scheme_str(), Some("http" | "https"))
    });
    let reason = || format!("{text} is no URL with http or https");
    url.map(Some).ok_or_else(|| InvalidVariable { variable, reason: reason() })
}

/// What is never repeated in an error: the values are credentials.
fn headers(set: &Set<'_>) -> Result<HeaderMap, InvalidVariable> {
    let Some((variable, text)) = first(set, &[TRACES_HEADERS, HEADERS]) else {
        return Ok(HeaderMap::new());
    };
    let wrong = |name: &str| InvalidVariable {
        variable,
        reason: format!("{name:?} is no header with a value"),
    };
    let pairs = pairs(&text).ok_or_else(|| wrong("what it says"))?;
    let header = |(name, value): (String, String)| {
        let header = HeaderName::try_from(&name).ok().zip(HeaderValue::try_from(value).ok());
        let (key, mut value) = header.ok_or_else(|| wrong(&name))?;
        value.set_sensitive(true);
        Ok((key, value))
    };
    pairs.into_iter().map(header).collect()
}

fn resource(set: &Set<'_>) -> Result<Vec<(String, String)>, InvalidVariable> {
    let said = set(ATTRIBUTES).unwrap_or_default();
    let reason = || "not written as name=value,name=value".to_owned();
    let mut resource =
        pairs(&said).ok_or_else(|| InvalidVariable { variable: ATTRIBUTES, reason: reason() })?;
    let mut say = |name: &str, value: Option<String>, default: &str| {
        let known = resource.iter().position(|(known, _)| known == name);
        match (value, known) {
            (Some(value), Some(index)) => resource[index].1 = value,
            (value, None) => {
                resource.push((name.to_owned(), value.unwrap_or_else(|| default.to_owned())));
            }
            (None, Some(_)) => {}
        }
    };
    say("service.name", set("OTEL_SERVICE_NAME"), "webhook-server");
    say("service.version", None, env!("CARGO_PKG_VERSION"));
    Ok(resource)
}

/// `name=value,name=value`, with values in percent-encoding.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let pair = |entry: &str| {
        let (name, value) = entry.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        Some((name.trim().to_owned(), value.into_owned()))
    };
    entries.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        let variable = |name: &str| {
            let set = variables.iter().find(|(set, _)| *set == name);
            set.map(|(_, value)| (*value).to_owned())
        };
        Settings::read(variable).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_is_traced_unless_a_collector_is_named() {
        let collector = (ENDPOINT, "http://collector:4318/");
        let settings = read(&[collector]).expect("valid").expect("on");
        assert_eq!(settings.endpoint, "http://collector:4318/v1/traces");
        for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none"), (ENDPOINT, "")]
        {
            assert!(read(&[off, collector]).expect("valid").is_none(), "{off:?}");
        }
    }

    #[test]
    fn what_is_for_traces_alone_comes_first() {
        let settings = read(&[
            (ENDPOINT, "http://collector:4318"),
            (TRACES_ENDPOINT, "https://traces.example.com/in"),
            (HEADERS, "x-a=general"),
            (TRACES_HEADERS, "authorization=Bearer%20s3cret, x-b = 2"),
            (ATTRIBUTES, "service.name=other,deployment.environment=test"),
            ("OTEL_SERVICE_NAME", "hooks"),
            ("OTEL_PROPAGATORS", "none"),
        ]);
        let settings = settings.expect("valid").expect("on");
        assert_eq!(settings.endpoint, "https://traces.example.com/in");
        assert_eq!(settings.headers["authorization"], "Bearer s3cret");
        assert_eq!((settings.headers.len(), settings.propagates), (2, false));
        assert!(settings.resource.contains(&("service.name".to_owned(), "hooks".to_owned())));
        assert!(!format!("{settings:?}").contains("s3cret"), "{settings:?}");
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_name_and_without_its_secrets() {
        let collector = (ENDPOINT, "http://collector:4318");
        for (variable, value) in [
            (ENDPOINT, "collector:4318"),
            (PROTOCOL, "grpc"),
            (SAMPLER, "often"),
            (TIMEOUT, "10s"),
            (HEADERS, "s3cret"),
            (HEADERS, "x-a=s3cret%0a"),
            (ATTRIBUTES, "name"),
            ("OTEL_BSP_SCHEDULE_DELAY", "-1"),
        ] {
            let error = read(&[(variable, value), collector]).expect_err(variable);
            assert!(error.starts_with(variable) && !error.contains("s3cret"), "{error}");
        }
    }
}
