//! The OpenAPI document: made from the handlers' own descriptions and put into the shape
//! that clients expect.

mod answers;
mod bounds;
mod examples;
mod paths;
mod rules;
mod shape;

use serde_json::{Map, Value};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        Components,
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
        server::ServerBuilder,
    },
};

use crate::{
    api::{open_operations, operations},
    failure::Failure,
};

const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

/// What is the same for all operations.
#[derive(Debug, OpenApi)]
#[openapi(
    info(
        title = "Webhook forwarding service",
        version = "0.1",
        description = "Receives webhooks at inputs, groups them in buckets, and forwards them to \
            outputs.\n\nEvery operation needs the account's API key: `Authorization: Bearer \
            sk-…`, or `Basic` with the user name `whr` and the key as password; or an access token: \
            `Basic` with its key and secret. A token with scopes gets 403 for buckets outside of \
            them and for what belongs to the account as a whole (the API key, tokens, functions, \
            domains, crons, notifications, connected clients); it may make the buckets whose names its scopes list. A token whose \
            `api_access` is `disabled` may only subscribe: take events and report. An error is a \
            status and a plain text that says what is wrong and which field. Every answer \
            carries a `Request-Id`. What is longer than `maxLength` bytes is refused, \
            even where it has fewer characters.\n\nFields that are marked read-only are answered, and \
            ignored when they are sent. An update replaces: an absent field returns to its \
            default, an absent `name` keeps the old one.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers(
        (url = "/", description = "The server that this document came from"),
        (url = "http://127.0.0.1:8080", description = "A server started without settings"),
    ),
    // Generated clients that are given one secret use it for the last of these.
    security(("BasicAuth" = []), ("BearerAuth" = [])),
    modifiers(&Security),
    tags(
        (name = "Account API key", description = "The key of the authenticated account"),
        (name = "Buckets", description = "Containers of inputs and outputs"),
        (name = "Inputs", description = "Endpoints of a bucket that receive webhooks"),
        (name = "Outputs", description = "Destinations of a bucket, with their filtering rules"),
        (name = "Functions", description = "Scripts that transform, filter and answer webhooks"),
        (name = "Logs", description = "What was received, and what became of it"),
        (name = "Cron jobs", description = "Webhooks at certain times"),
        (name = "Notifications", description = "Webhooks about what happens to others"),
        (name = "Access tokens", description = "Credentials with a narrower reach than the key"),
        (name = "Domains", description = "Domains whose requests come to inputs"),
        (name = "Billing", description = "Plans, usage, and who pays"),
        (name = "Other", description = "About the server"),
    ),
)]
struct Document;

struct Security;

impl Modify for Security {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_with(Components::new);
        for (name, scheme, description) in [
            ("BearerAuth", HttpAuthScheme::Bearer, "The account's API key, `sk-…`"),
            (
                "BasicAuth",
                HttpAuthScheme::Basic,
                "The key and the secret of an access token; or `whr` and the account's API key",
            ),
        ] {
            let scheme = HttpBuilder::new().scheme(scheme).description(Some(description)).build();
            components.add_security_scheme(name, SecurityScheme::Http(scheme));
        }
    }
}

/// The document as text, the same for the same code and the same address. With a public address
/// that is the server that clients are generated for.
pub(crate) fn document_text(public_url: Option<&str>) -> Result<String, Failure> {
    let failed = |error| Failure::caused_by("cannot write the OpenAPI document", error);
    let mut derived = Document::openapi()
        .merge_from(operations().into_openapi())
        .merge_from(open_operations().into_openapi());
    paths::complete(&mut derived);
    if let Some(url) = public_url {
        let server = ServerBuilder::new().url(url).description(Some("The address of this server"));
        derived.servers = Some(vec![server.build()]);
    }
    let mut document = serde_json::to_value(derived).map_err(failed)?;
    let examples = serde_json::from_str(examples::EXAMPLES).map_err(failed)?;

    if let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") {
        shape::tidy(schemas);
        rules::add(schemas);
        bounds::state(schemas);
    }
    for_each_operation(&mut document, |method, path, operation| {
        answers::state_texts(operation);
        answers::state_versions(method, path, operation);
        bounds::state_of_operation(operation);
        answers::complete(operation);
    });
    answers::describe_headers(&mut document);
    examples::show(&mut document, &examples);
    shape::unlink(&mut document);
    serde_json::to_string_pretty(&document).map_err(failed)
}

fn for_each_operation(
    document: &mut Value,
    mut change: impl FnMut(&str, &str, &mut Map<String, Value>),
) {
    let Some(Value::Object(paths)) = document.get_mut("paths") else { return };
    for (path, item) in paths {
        for method in METHODS {
            if let Some(Value::Object(operation)) = item.get_mut(method) {
                change(method, path, operation);
            }
        }
    }
}

/// The last part of `#/components/schemas/Name`.
fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

#[cfg(test)]
mod tests;
