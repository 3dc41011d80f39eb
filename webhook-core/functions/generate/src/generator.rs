//! The generator that searches, and that asks a model where it is given one.

use std::fmt;

use async_trait::async_trait;
use webhook_core::{
    function::generate::{FunctionGenerator, GenerateError, GenerateRequest, GeneratedFunction},
    model::Driver,
};

use super::diff::first_difference;
use super::emit;
use super::limits::GenerateLimits;
use super::program::Program;
use super::sample::{Sample, read_answer, read_input, read_output};
use super::search;
use super::undecided::undecided;
use super::wish::Wish;

/// Runs a written function.
#[async_trait]
pub trait Validate: Send + Sync + fmt::Debug {
    /// Whether `source` compiles.
    ///
    /// # Errors
    ///
    /// Why it does not, for the person who asked for it.
    async fn check(&self, driver: Driver, source: &str) -> Result<(), String>;

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

    pub(crate) fn limits(&self) -> &GenerateLimits {
        &self.limits
    }

    /// Searches, and checks what is found.
    pub(crate) async fn search(
        &self,
        pairs: &[Pair],
        driver: Driver,
    ) -> Result<Searched, GenerateError> {
        let samples = read_all(pairs, &self.limits)?;
        let limits = self.limits.clone();
        let search = move || write_all(samples, driver, &limits);
        let written = tokio::task::spawn_blocking(search)
            .await
            .map_err(|error| GenerateError::Failed { reason: error.to_string() })??;
        let Written { code, undecided, samples, program } = written;
        let mut wrong = first_wrong(&self.validate, driver, &code, pairs, &samples).await;
        let found = wrong.is_none() && program.body.reads(0);
        if wrong.is_none() && !undecided.is_empty() {
            wrong = Some(undecided.join("; "));
        }
        let function = GeneratedFunction {
            code,
            driver,
            validation_ok: wrong.is_none(),
            validation_err: wrong.unwrap_or_default(),
        };
        Ok(Searched { function, found })
    }
}

/// What a search came to.
pub(crate) struct Searched {
    pub(crate) function: GeneratedFunction,
    /// Whether the function is right for every sample and reads anything of the payload.
    pub(crate) found: bool,
}

#[async_trait]
impl<V: Validate> FunctionGenerator for SearchGenerator<V> {
    async fn generate(&self, request: GenerateRequest) -> Result<GeneratedFunction, GenerateError> {
        let wish = Wish::of(&request)?;
        let pairs = pairs(request, self.limits.max_examples)?;
        Ok(self.search(&pairs, wish.driver).await?.function)
    }
}

/// The first sample that the function is wrong for, and how.
pub(crate) async fn first_wrong(
    validate: &impl Validate,
    driver: Driver,
    code: &str,
    pairs: &[Pair],
    samples: &[(Sample, Sample)],
) -> Option<String> {
    for (pair, (input, wanted)) in pairs.iter().zip(samples) {
        let kind = input.format.content_type();
        let answer = validate.run(driver, code, pair.input.as_bytes(), kind).await;
        let wrong = match answer.and_then(|answer| read_answer(&answer, wanted.format)) {
            Ok(got) => first_difference(&wanted.value, &got, driver == Driver::Lua)
                .map(|difference| difference.to_string()),
            Err(error) => Some(error),
        };
        if let Some(wrong) = wrong {
            let of = if pairs.len() > 1 { format!("{}: ", pair.name) } else { String::new() };
            return Some(format!("{of}{wrong}"));
        }
    }
    None
}

/// One sample of a request.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The name that messages have for it.
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) output: String,
    /// The fields of the request to blame for the two.
    fields: [&'static str; 2],
}

/// The samples of a request. The first two fields may be empty when there are examples.
pub(crate) fn pairs(request: GenerateRequest, most: usize) -> Result<Vec<Pair>, GenerateError> {
    let GenerateRequest { input_payload, output_payload, examples, .. } = request;
    let mut pairs = Vec::with_capacity(examples.len() + 1);
    if examples.is_empty() || !input_payload.is_empty() || !output_payload.is_empty() {
        pairs.push(Pair::sample(input_payload, output_payload));
    }
    pairs.extend(examples.into_iter().enumerate().map(|(index, example)| Pair {
        name: format!("examples[{index}]"),
        input: example.input,
        output: example.output,
        fields: ["examples"; 2],
    }));
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
        let invalid = |field, reason| GenerateError::Invalid {
            field,
            reason: match field {
                "examples" => format!("{}: {reason}", self.name),
                _ => reason,
            },
        };
        let input = read_input(&self.input, limits).map_err(|e| invalid(self.fields[0], e))?;
        let output = read_output(&self.output, limits).map_err(|e| invalid(self.fields[1], e))?;
        Ok((input, output))
    }
}

/// The samples, read, if all of them are of one format.
pub(crate) fn read_all(
    pairs: &[Pair],
    limits: &GenerateLimits,
) -> Result<Vec<(Sample, Sample)>, GenerateError> {
    let samples = pairs.iter().map(|pair| pair.read(limits)).collect::<Result<Vec<_>, _>>()?;
    let formats = samples.iter().map(|(input, output)| (input.format, output.format));
    if formats.clone().any(|format| Some(format) != formats.clone().next()) {
        let reason = "the samples are not all of one format".to_owned();
        return Err(GenerateError::Invalid { field: "examples", reason });
    }
    Ok(samples)
}

/// A function before it is run.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) code: String,
    pub(crate) program: Program,
    pub(crate) samples: Vec<(Sample, Sample)>,
    /// What the samples do not decide.
    pub(crate) undecided: Vec<String>,
}

/// Searches and writes down.
pub(crate) fn write_all(
    samples: Vec<(Sample, Sample)>,
    driver: Driver,
    limits: &GenerateLimits,
) -> Result<Written, GenerateError> {
    let invalid = |field, reason| GenerateError::Invalid { field, reason };
    let found = search::find(&samples, limits).map_err(|search::Exhausted| {
        let most = limits.max_steps;
        let reason = format!(
            "no function found within {most} steps; a shorter sample of the same shape leaves less to search"
        );
        invalid("input_payload", reason)
    })?;
    let undecided = undecided(&found, &samples);
    let Some((input, output)) =
        samples.first().map(|(input, output)| (input.format, output.format))
    else {
        return Err(invalid("examples", "empty, give a sample".to_owned()));
    };
    let program = Program { input, output, body: found.expr };
    let code = match driver {
        Driver::Js => emit::javascript(&program, &undecided),
        _ => emit::lua(&program, &undecided),
    };
    if code.len() > limits.max_code_bytes {
        let (length, most) = (code.len(), limits.max_code_bytes);
        let reason = format!("needs a function of {length} bytes, at most {most} are accepted");
        return Err(invalid("output_payload", reason));
    }
    Ok(Written { code, program, samples, undecided })
}
