//! The OpenAPI document: what the handlers say of themselves, put into the
//! shape that clients expect.

use serde_json::{Map, Value};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        Components, ContentBuilder, ObjectBuilder, RefOr, ResponseBuilder,
        path::Operation,
        schema::{SchemaType, Type},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::{failure::Failure, router};

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
            domains, crons, connected clients); it may make the buckets whose names its scopes list. A token whose \
            `api_access` is `disabled` may only subscribe: take events and report. An error is a \
            status and a plain text that says what is wrong and which field. Every answer \
            carries a `Request-Id`.\n\nFields that are marked read-only are answered, and \
            ignored when they are sent. An update replaces: an absent field returns to its \
            default, an absent `name` keeps the old one.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    security(("BearerAuth" = [])),
    modifiers(&Security),
    tags(
        (name = "Account API key", description = "The key of the authenticated account"),
        (name = "Buckets", description = "Containers of inputs and outputs"),
        (name = "Inputs", description = "Endpoints of a bucket that receive webhooks"),
        (name = "Outputs", description = "Destinations of a bucket, with their filtering rules"),
        (name = "Functions", description = "Scripts that transform, filter and answer webhooks"),
        (name = "Logs", description = "What was received, and what became of it"),
        (name = "Cron jobs", description = "Webhooks at certain times"),
        (name = "Access tokens", description = "Credentials with a narrower reach than the key"),
        (name = "Domains", description = "Domains whose requests come to inputs"),
        (name = "Billing", description = "Plans, usage, and who pays"),
        (name = "Other", description = "About the server"),
    ),
)]
pub(crate) struct Document;

struct Security;

impl Modify for Security {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("The account's API key, `sk-…`"))
            .build();
        let components = document.components.get_or_insert_with(Components::new);
        components.add_security_scheme("BearerAuth", SecurityScheme::Http(scheme));
    }
}

/// The document as text, the same for the same code.
pub(crate) fn document_text() -> Result<String, Failure> {
    let failed = |error| Failure::caused_by("cannot write the OpenAPI document", error);
    let mut document = serde_json::to_value(document()).map_err(failed)?;
    if let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") {
        merge_flattened(schemas);
    }
    unlink(&mut document);
    serde_json::to_string_pretty(&document).map_err(failed)
}

fn document() -> utoipa::openapi::OpenApi {
    let open = router::open_operations().into_openapi();
    let mut document = router::operations().into_openapi().merge_from(open);
    for item in document.paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.delete];
        operations.into_iter().flatten().for_each(add_common_refusals);
    }
    document
}

/// What any operation may answer besides the statuses of its own (wire.md section 9).
fn add_common_refusals(operation: &mut Operation) {
    let mut common = vec![
        ("401", "The credentials are missing, wrong or disabled"),
        ("500", "A defect of the server; the log has the cause"),
        ("503", "Too much to do at the moment; try again after `Retry-After`"),
    ];
    if operation.request_body.is_some() {
        common.push(("413", "The body is over its limit"));
    }
    for (status, description) in common {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        let content = ContentBuilder::new().schema(Some(text)).build();
        let response =
            ResponseBuilder::new().description(description).content("text/plain", content).build();
        operation.responses.responses.insert(status.to_owned(), RefOr::T(response));
    }
}

/// A resource is its read-only part with its spec flattened into it, which
/// derives as `allOf`; clients know one flat schema with read-only fields.
fn merge_flattened(schemas: &mut Map<String, Value>) {
    let specs: Vec<String> =
        schemas.keys().filter(|name| name.ends_with("Spec")).cloned().collect();
    for spec_name in specs {
        let Some(Value::Object(mut spec)) = schemas.remove(&spec_name) else { continue };
        let name = spec_name.trim_end_matches("Spec");
        let Some(Value::Object(resource)) = schemas.get_mut(name) else { continue };
        let Some(Value::Array(parts)) = resource.remove("allOf") else { continue };
        for part in parts {
            let Value::Object(part) = part else { continue };
            for (key, value) in part.into_iter().filter(|(key, _)| key != "$ref") {
                resource.insert(key, value);
            }
        }
        if let Some(Value::Object(properties)) = resource.get_mut("properties") {
            properties.values_mut().for_each(mark_read_only);
            if let Some(Value::Object(written)) = spec.remove("properties") {
                properties.extend(written);
            }
        }
    }
}

/// Lists derive as lists of read-only things, if at all.
fn mark_read_only(property: &mut Value) {
    if let Some(Value::Object(items)) = property.get_mut("items") {
        items.remove("readOnly");
    }
    if let Value::Object(property) = property {
        property.insert("readOnly".to_owned(), Value::Bool(true));
    }
}

/// Descriptions come from rustdoc, whose links mean nothing outside of it.
fn unlink(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.replace("[`", "`").replace("`]", "`");
            }
            object.values_mut().for_each(unlink);
        }
        Value::Array(array) => array.iter_mut().for_each(unlink),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
