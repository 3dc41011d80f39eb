//! The path of an operation decides its tag, its identifiers and most of its refusals: this file
//! adds them to the document. The attribute of a handler names the rest, and has precedence.

use utoipa::openapi::{
    KnownFormat, ObjectBuilder, OpenApi, RefOr, Required, ResponseBuilder, SchemaFormat, Type,
    path::{Operation, Parameter, ParameterBuilder, ParameterIn},
};

/// The tag of the operations whose paths begin so; the last that fits decides.
const TAGS: [(&str, &str); 22] = [
    ("/v1/account", "Account API key"),
    ("/v1/billing-details", "Billing"),
    ("/v1/buckets", "Buckets"),
    ("/v1/buckets/{id}/inputs", "Inputs"),
    ("/v1/buckets/{id}/logs", "Logs"),
    ("/v1/buckets/{id}/outputs", "Outputs"),
    ("/v1/checkout", "Billing"),
    ("/v1/config", "Other"),
    ("/v1/connected-clients", "Other"),
    ("/v1/crons", "Cron jobs"),
    ("/v1/domains", "Domains"),
    ("/v1/erasures", "Logs"),
    ("/v1/events", "Logs"),
    ("/v1/exec-logs", "Functions"),
    ("/v1/functions", "Functions"),
    ("/v1/logs", "Logs"),
    ("/v1/notifications", "Notifications"),
    ("/v1/replays", "Logs"),
    ("/v1/signature-providers", "Inputs"),
    ("/v1/stripe", "Billing"),
    ("/v1/tokens", "Access tokens"),
    ("/v1/usage", "Billing"),
];

/// Why an access token gets 403 where the path begins so.
const FORBIDDEN: [(&str, &str); 5] = [
    ("/v1/erasures/{id}", "Its bucket is not in the access token's scope"),
    ("/v1/logs/{id}", "Its bucket is not in the access token's scope"),
    ("/v1/replays/{id}", "Its bucket is not in the access token's scope"),
    ("/v1/tokens", "The access token reaches some buckets only"),
    ("/v1/usage", "The access token reaches some buckets only"),
];

/// Adds its tag, parameters and refusals to each operation.
pub(super) fn complete(document: &mut OpenApi) {
    for (path, item) in &mut document.paths.paths {
        if let Some(get) = &mut item.get
            && has_query(get)
        {
            refuse(get, "400", "The query is wrong; the text names the field");
        }
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            complete_operation(path, operation);
        }
    }
}

fn has_query(operation: &Operation) -> bool {
    let mut parameters = operation.parameters.iter().flatten();
    parameters.any(|p| matches!(p, RefOr::T(p) if p.parameter_in == ParameterIn::Query))
}

fn complete_operation(path: &str, operation: &mut Operation) {
    let of_path = |(start, _): &&(&str, &str)| path.starts_with(start);
    operation.tags = TAGS.iter().rfind(of_path).map(|(_, tag)| vec![(*tag).to_owned()]);
    if operation.request_body.is_some() {
        refuse(operation, "400", "The body is wrong; the text names the field");
    }
    if let Some((_, why)) = FORBIDDEN.iter().find(of_path) {
        refuse(operation, "403", why);
    }

    let identified = identified(path);
    if !identified.is_empty() {
        let kinds: Vec<_> = identified.iter().map(|(_, kind)| *kind).collect();
        let missing = format!("The account has no such {}", kinds.join(" or "));
        refuse(operation, status_of_missing(path), &missing);
        let parameters = identified.iter().map(|(name, kind)| identifier(name, kind));
        operation.parameters.get_or_insert_default().splice(..0, parameters);
    }

    // A description derives with the line breaks of its comment.
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(Parameter { description: Some(description), .. }) = parameter {
            *description = description.replace('\n', " ");
        }
    }
}

/// Adds a refusal, unless the operation itself has one with this status.
fn refuse(operation: &mut Operation, status: &str, why: &str) {
    let refusal = || ResponseBuilder::new().description(why).build().into();
    operation.responses.responses.entry(status.to_owned()).or_insert_with(refusal);
}

/// The identifiers in a path, each with what it identifies: `id` of a `bucket` and `detailed` of
/// an `input` in `/v1/buckets/{id}/inputs/{detailed}`. The number of a version and the key of a
/// variable are none.
fn identified(path: &str) -> Vec<(&str, &str)> {
    let parts: Vec<_> = path.split('/').collect();
    let pairs = parts.windows(2).filter_map(|pair| {
        let name = pair[1].strip_prefix('{')?.strip_suffix('}')?;
        let kind = match pair[0] {
            "versions" | "config" => return None,
            "exec-logs" => "run",
            "logs" if path.starts_with("/v1/functions/") => "run",
            kinds => kinds.trim_end_matches('s'),
        };
        Some((name, kind))
    });
    pairs.collect()
}

/// The status of the answer when an identifier of the path names nothing.
fn status_of_missing(path: &str) -> &'static str {
    let is_invalid = path.starts_with("/v1/functions")
        || path.starts_with("/v1/exec-logs")
        || path == "/v1/buckets/{id}/inputs";
    if is_invalid { "400" } else { "404" }
}

fn identifier(name: &str, kind: &str) -> RefOr<Parameter> {
    let uuid = SchemaFormat::KnownFormat(KnownFormat::Uuid);
    let schema = ObjectBuilder::new().schema_type(Type::String).format(Some(uuid)).build();
    let parameter = ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .description(Some(format!("The {kind}'s ID")))
        .required(Required::True)
        .schema(Some(schema));
    parameter.build().into()
}
