//! `/v1/functions-generate`

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use webhook_core::{
    function::generate::{GenerateExample, GenerateRequest, GeneratedFunction},
    model::Driver,
};

use super::Answer;
use crate::api::{auth::Authenticated, extract::JsonObject};

/// A sample of what a function is to do.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct GenerateFunctionRequest {
    /// A payload as the function receives it: JSON, XML, a form or any text.
    input_payload: Option<String>,
    /// The payload that the function is to make of it.
    output_payload: Option<String>,
    /// Up to three more samples: the function must be right for all of them.
    examples: Option<Vec<GenerateFunctionExample>>,
    /// The language: `lua` or `js`. Without it `additional_info` says the language, and `lua` is the default.
    driver: Option<Driver>,
    /// Wishes in words, of which the language is understood: `in JavaScript`.
    additional_info: Option<String>,
}

/// A payload, and what the function is to make of it.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct GenerateFunctionExample {
    /// A payload as the function receives it.
    #[serde(default)]
    input: String,
    /// The payload that the function is to make of it.
    #[serde(default)]
    output: String,
}

/// A function that was written, which is not saved.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GenerateFunctionResponse {
    /// The source.
    code: String,
    /// The language of the source.
    driver: Driver,
    /// Whether running it on every sample gave the wanted payload, and no value of it is a guess.
    validation_ok: bool,
    /// Otherwise the error or the first difference, and the values that are guesses: `total: the same for every
    /// payload`.
    validation_err: String,
}

/// Write a function from a sample of what it gets and what it is to make of it.
///
/// It is run on the sample, and not saved.
#[utoipa::path(
    post,
    path = "/v1/functions-generate",
    request_body = GenerateFunctionRequest,
    responses(
        (status = 200, description = "The function", body = GenerateFunctionResponse),
        (status = 429, description = "The account runs too many functions through the API"),
    ),
)]
pub(crate) async fn generate_function(
    Authenticated(state, caller): Authenticated,
    JsonObject(request): JsonObject<GenerateFunctionRequest>,
) -> Answer<GenerateFunctionResponse> {
    let GenerateFunctionRequest {
        input_payload,
        output_payload,
        examples,
        driver,
        additional_info,
    } = request;
    let example = |example: GenerateFunctionExample| GenerateExample {
        input: example.input,
        output: example.output,
    };
    let request = GenerateRequest {
        input_payload: input_payload.unwrap_or_default(),
        output_payload: output_payload.unwrap_or_default(),
        examples: examples.unwrap_or_default().into_iter().map(example).collect(),
        driver,
        additional_info: additional_info.unwrap_or_default(),
    };
    let GeneratedFunction { code, driver, validation_ok, validation_err } =
        state.admin().generate_function(&caller, request).await?;
    Ok(Json(GenerateFunctionResponse { code, driver, validation_ok, validation_err }))
}
