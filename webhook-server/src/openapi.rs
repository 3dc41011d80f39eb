//! The OpenAPI document: what the handlers say of themselves, put into the
//! shape that clients expect.

use utoipa::{
    Modify, OpenApi,
    openapi::{
        Components, ContentBuilder, HttpMethod, ObjectBuilder, RefOr, ResponseBuilder, Schema,
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
            sk-…`, or `Basic` with the user name `whr` and the key as password. An error is a \
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

/// The document.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    let mut document = router::operations().into_openapi();
    for item in document.paths.paths.values_mut() {
        let operations = [
            (HttpMethod::Get, &mut item.get),
            (HttpMethod::Post, &mut item.post),
            (HttpMethod::Put, &mut item.put),
            (HttpMethod::Delete, &mut item.delete),
        ];
        for (_, operation) in operations {
            if let Some(operation) = operation {
                add_common_refusals(operation);
            }
        }
    }
    if let Some(components) = &mut document.components {
        merge_flattened(components);
    }
    document
}

/// The document as text, the same for the same code.
pub(crate) fn document_text() -> Result<String, Failure> {
    document()
        .to_pretty_json()
        .map_err(|error| Failure::caused_by("cannot write the OpenAPI document", error))
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
/// derives as `allOf`; clients know one flat schema.
fn merge_flattened(components: &mut Components) {
    let mut merged = Vec::new();
    let specs: Vec<String> =
        components.schemas.keys().filter(|name| name.ends_with("Spec")).cloned().collect();
    for spec in &specs {
        let Some(RefOr::T(Schema::Object(fields))) = components.schemas.remove(spec) else {
            continue;
        };
        merged.push((spec.trim_end_matches("Spec").to_owned(), fields));
    }
    for (name, fields) in merged {
        let Some(RefOr::T(Schema::AllOf(parts))) = components.schemas.get_mut(&name) else {
            continue;
        };
        let description = parts.description.clone();
        let own = parts.items.iter_mut().find_map(|part| match part {
            RefOr::T(Schema::Object(object)) => Some(std::mem::take(object)),
            _ => None,
        });
        let mut object = own.unwrap_or_default();
        object.description = description.or(object.description);
        object.properties.extend(fields.properties);
        object.required.extend(fields.required);
        components.schemas.insert(name, RefOr::T(Schema::Object(object)));
    }
}

#[cfg(test)]
mod tests;
