//! The generator's interface, and the one that searches.

use std::fmt;

use async_trait::async_trait;
use webhook_core::{
    function::generate::{FunctionGenerator, GenerateError, GenerateRequest, GeneratedFunction},
    model::Driver,
};

use super::diff::first_difference;
use super::doubts::doubts;
use super::emit::{EmitError, JavaScript, Lua, emit};
use super::limits::GenerateLimits;
use super::program::Program;
use super::sample::{Format, Sample, read_answer, read_input, read_output};
use super::search;

/// What a request's free text asks for: JavaScript where it says `JavaScript` or `JS` and does not say no to it,
/// otherwise Lua.
fn asked_for(additional_info: &str) -> Driver {
    let words: Vec<String> = additional_info
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let asks = words.iter().enumerate().any(|(index, word)| {
        let named = matches!(word.as_str(), "javascript" | "js" | "ecmascript" | "nodejs");
        let denied = index.checked_sub(1).and_then(|before| words.get(before));
        named && !denied.is_some_and(|word| matches!(word.as_str(), "not" | "no" | "without"))
    });
    if asks { Driver::Js } else { Driver::Lua }
}

/// Runs a written function.
#[async_trait]
pub trait Validate: Send + Sync + fmt::Debug {
    /// The body that `source` makes of a request with this body and content type.
    ///
    /// # Errors
    ///
    /// Why the function failed, for the person who asked for it.
    async fn run(
        &self,
        driver: Driver,
        source: &str,
        body: &[u8],
        content_type: &str,
    ) -> Result<Vec<u8>, String>;
}

/// Finds functions by search and checks them with `V`.
///
/// The search runs on the runtime's blocking threads, for about a second at most (see [`GenerateLimits::max_steps`]).
#[derive(Debug, Clone)]
pub struct SearchGenerator<V> {
    validate: V,
    limits: GenerateLimits,
}

impl<V: Validate> SearchGenerator<V> {
    /// A generator with the default limits.
    pub fn new(validate: V) -> Self {
        Self::with_limits(validate, GenerateLimits::default())
    }

    /// A generator with other limits.
    pub fn with_limits(validate: V, limits: GenerateLimits) -> Self {
        Self { validate, limits }
    }

    async fn check(
        &self,
        driver: Driver,
        source: &str,
        body: &str,
        input: Format,
        wanted: &Sample,
    ) -> Result<(), String> {
        let answer =
            self.validate.run(driver, source, body.as_bytes(), input.content_type()).await?;
        let got = read_answer(&answer, wanted.format, &self.limits)?;
        match first_difference(&wanted.value, &got, driver == Driver::Lua) {
            Some(difference) => Err(difference),
            None => Ok(()),
        }
    }
}

#[async_trait]
impl<V: Validate> FunctionGenerator for SearchGenerator<V> {
    async fn generate(&self, request: GenerateRequest) -> Result<GeneratedFunction, GenerateError> {
        let driver = asked_for(&request.additional_info);
        let pairs = pairs(request, self.limits.max_examples)?;
        let limits = self.limits.clone();
        let search = move || {
            let written = write_all(&pairs, driver, &limits)?;
            Ok((pairs, written))
        };
        let (pairs, written) = tokio::task::spawn_blocking(search)
            .await
            .map_err(|error| GenerateError::Failed { reason: error.to_string() })??;
        let Written { code, program, wanted, doubts } = written;
        let mut wrong = Vec::new();
        for (pair, wanted) in pairs.iter().zip(&wanted) {
            let checked = self.check(driver, &code, &pair.input, program.input, wanted).await;
            if let Err(difference) = checked {
                let of = if pairs.len() > 1 { format!("{}: ", pair.name) } else { String::new() };
                wrong.push(format!("{of}{difference}"));
                break;
            }
        }
        wrong.extend(doubts);
        Ok(GeneratedFunction {
            code,
            driver,
            validation_ok: wrong.is_empty(),
            validation_err: wrong.join("; "),
        })
    }
}

/// One sample of a request.
#[derive(Debug)]
pub(crate) struct Pair {
    /// What messages call it.
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) output: String,
    /// The fields of the request to blame for the two.
    fields: [&'static str; 2],
}

/// The samples of a request. The first two fields may be empty when there are examples.
fn pairs(request: GenerateRequest, most: usize) -> Result<Vec<Pair>, GenerateError> {
    let GenerateRequest { input_payload, output_payload, examples, additional_info: _ } = request;
    let mut pairs = Vec::with_capacity(examples.len() + 1);
    if examples.is_empty() || !input_payload.is_empty() || !output_payload.is_empty() {
        pairs.push(Pair::sample(input_payload, output_payload));
    }
    let given = examples.into_iter().enumerate().map(|(index, example)| Pair {
        name: format!("examples[{index}]"),
        input: example.input,
        output: example.output,
        fields: ["examples"; 2],
    });
    pairs.extend(given);
    if pairs.len() > most {
        let reason = format!("{} samples in all, at most {most} are accepted", pairs.len());
        return Err(GenerateError::Invalid { field: "examples", reason });
    }
    Ok(pairs)
}

impl Pair {
    pub(crate) fn sample(input: String, output: String) -> Self {
        let fields = ["input_payload", "output_payload"];
        Self { name: "sample".to_owned(), input, output, fields }
    }

    /// The two, read.
    fn read(&self, limits: &GenerateLimits) -> Result<(Sample, Sample), GenerateError> {
        let blame = |error, to: &'static str| match error {
            GenerateError::Invalid { reason, .. } if to == "examples" => {
                GenerateError::Invalid { field: to, reason: format!("{}: {reason}", self.name) }
            }
            error => error,
        };
        let input = read_input(&self.input, limits).map_err(|e| blame(e, self.fields[0]))?;
        let output = read_output(&self.output, limits).map_err(|e| blame(e, self.fields[1]))?;
        Ok((input, output))
    }
}

/// A function before it is checked.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) code: String,
    pub(crate) program: Program,
    /// What each sample wants.
    pub(crate) wanted: Vec<Sample>,
    /// The values that are guesses, and why.
    pub(crate) doubts: Vec<String>,
}

/// Searches and writes down.
pub(crate) fn write_all(
    pairs: &[Pair],
    driver: Driver,
    limits: &GenerateLimits,
) -> Result<Written, GenerateError> {
    let samples = pairs.iter().map(|pair| pair.read(limits));
    let samples = samples.collect::<Result<Vec<_>, _>>()?;
    let formats = samples.iter().map(|(input, output)| (input.format, output.format));
    if formats.clone().any(|format| Some(format) != formats.clone().next()) {
        let reason = "the samples are not all of one format".to_owned();
        return Err(GenerateError::Invalid { field: "examples", reason });
    }
    let program = search::find(&samples, driver == Driver::Js, limits).map_err(|search::Exhausted| {
        let reason = format!(
            "no function found within {} steps; a shorter sample of the same shape leaves less to search",
            limits.max_steps
        );
        GenerateError::Invalid { field: "input_payload", reason }
    })?;
    let too_long = |reason| GenerateError::Invalid { field: "output_payload", reason };
    let code = match driver {
        Driver::Lua => emit(&program, &Lua),
        Driver::Js => emit(&program, &JavaScript),
        Driver::Wasm => {
            let reason = "functions are written in Lua and JavaScript".to_owned();
            return Err(GenerateError::Failed { reason });
        }
    };
    let code = code.map_err(|EmitError::TooManyLists| {
        too_long(
            "needs more lists than one function has room for; give fewer elements of the same kind"
                .to_owned(),
        )
    })?;
    let doubts = doubts(&program, samples.len());
    let code = remarked(&code, &doubts, driver, samples.len());
    if code.len() > limits.max_code_bytes {
        let reason = format!(
            "needs a function of {} bytes, at most {} are accepted",
            code.len(),
            limits.max_code_bytes
        );
        return Err(too_long(reason));
    }
    let wanted = samples.into_iter().map(|(_, wanted)| wanted).collect();
    Ok(Written { code, program, wanted, doubts })
}

/// The source with the doubts as comments below its first line.
fn remarked(code: &str, doubts: &[String], driver: Driver, samples: usize) -> String {
    let mark = if driver == Driver::Js { "//" } else { "--" };
    let remarks: String = doubts.iter().map(|doubt| format!("{mark} {doubt}\n")).collect();
    match code.split_once('\n') {
        Some((first, rest)) if samples == 1 => format!("{first}\n{remarks}{rest}"),
        Some((first, rest)) => {
            let first = first.replacen("one sample", &format!("{samples} samples"), 1);
            format!("{first}\n{remarks}{rest}")
        }
        None => code.to_owned(),
    }
}

#[cfg(test)]
mod driver_tests {
    use super::*;

    #[test]
    fn the_language_is_read_from_the_wishes() {
        for (info, driver) in [
            ("", Driver::Lua),
            ("please write it in JavaScript", Driver::Js),
            ("JS", Driver::Js),
            ("in lua, not javascript", Driver::Lua),
            ("the adjsted total", Driver::Lua),
        ] {
            assert_eq!(asked_for(info), driver, "{info}");
        }
    }
}
