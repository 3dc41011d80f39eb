//! `explain LOG`: why a webhook is where it is, in plain lines.

use http::Method;
use serde_json::Value;
use webhook_core::{DeliveryId, model::Secret};

use super::{Access, moment, one_line};
use crate::{failure::Failure, print::print};

/// Says why a webhook is where it is.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Explain {
    /// The log's ID.
    #[arg(value_name = "LOG")]
    log_id: DeliveryId,
    /// Prints the trace as JSON, as the API answers it.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    access: Access,
}

/// Prints the trace of a log.
pub(crate) async fn explain(options: Explain, key: Option<Secret>) -> Result<(), Failure> {
    let Explain { log_id, json, access } = options;
    let api = access.api(key)?;
    let trace = api.json(Method::GET, &format!("/v1/logs/{log_id}/trace"), None).await?;
    match json {
        true => print(&format!("{}\n", escaped(&format!("{trace:#}")))),
        false => print(&told(&trace)),
    }
}

/// JSON with its control characters as escapes: a serializer leaves some of them as they are.
fn escaped(json: &str) -> String {
    let escape = |c: char| match c.is_control() && c != '\n' {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(escape).collect()
}

/// The trace in lines, the most important first.
fn told(trace: &Value) -> String {
    let mut lines = vec![text(&trace["verdict"]).to_owned(), String::new()];
    let received = &trace["received"];
    let from = match text(&received["remote_addr"]) {
        "" => String::new(),
        address => format!(" from {address}"),
    };
    let (at, bytes) = (moment(&received["at"]), &received["bytes"]);
    lines.push(format!("received at {at}{from}, {bytes} bytes"));
    if received["answered"].is_number() {
        let from = answer_from(text(&received["answer_from"]));
        lines.push(format!("its sender got {}, {from}", received["answered"]));
    }
    for check in list(&trace["checks"]) {
        let (name, outcome) = (text(&check["check"]).replace('_', " "), text(&check["outcome"]));
        lines.push(format!("{name} {outcome}: {}", text(&check["detail"])));
    }
    for function in list(&trace["functions"]) {
        function_lines(function, &mut lines);
    }
    let rules = &trace["rules"];
    if rules.is_object() {
        let matched = match rules["matched"].as_bool() {
            Some(true) => "let it pass",
            Some(false) => "stop it",
            None => "could not be asked",
        };
        let changed = match rules["changed_since"] == true {
            true if rules["version"].is_null() => " (the output was changed since)",
            true => " (the rules were changed since)",
            false => "",
        };
        match rules["tree"]["and"].as_array().is_some_and(Vec::is_empty) {
            true => lines.push(format!("{}{changed}", text(&rules["text"]))),
            false => {
                lines.push(format!("the rules {matched}{changed}: {}", text(&rules["text"])));
                rule_lines(&rules["tree"], 1, &mut lines);
            }
        }
    }
    for attempt in list(&trace["attempts"]) {
        lines.push(attempt_line(attempt));
    }
    if trace["next_at"].is_number() {
        lines.push(format!("the next attempt is due at {}", moment(&trace["next_at"])));
    }
    lines.iter().map(|line| format!("{}\n", one_line(line).trim_end())).collect()
}

/// Where the answer to the sender came from, in words.
fn answer_from(word: &str) -> &str {
    match word {
        "static" => "the input's own answer",
        "function" => "which the input's function set",
        "output" => "the answer of an output",
        "timeout" => "the input's own answer, as no output had answered in time",
        "refusal" => "which refused it",
        other => other,
    }
}

fn function_lines(function: &Value, lines: &mut Vec<String>) {
    let (at, id) = (text(&function["at"]), text(&function["function_id"]));
    let taken = millis(&function["duration_ms"]).map(|taken| format!(" in {taken}"));
    let because = |field: &str| match text(&function[field]) {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    let (error, note) = (because("error"), because("note"));
    let outcome = text(&function["outcome"]);
    let taken = taken.unwrap_or_default();
    lines.push(format!("the {at}'s function {id} {outcome}{taken}{error}{note}"));
    lines.extend(list(&function["changes"]).map(change_line));
}

/// One change of a request.
pub(crate) fn change_line(change: &Value) -> String {
    let place = match text(&change["name"]) {
        "" => text(&change["part"]).to_owned(),
        name => format!("{} {name}", text(&change["part"])),
    };
    let value = |value: &Value| value.as_str().unwrap_or("nothing").to_owned();
    format!("  {place}: {} -> {}", value(&change["from"]), value(&change["to"]))
}

/// A rule and those inside it; `*` marks the way to what decided.
fn rule_lines(rule: &Value, depth: usize, lines: &mut Vec<String>) {
    let mark = if rule["decided"] == true { '*' } else { ' ' };
    let outcome = if rule["outcome"] == true { "yes" } else { "no" };
    let indent = "  ".repeat(depth);
    for word in ["and", "or", "not"] {
        if let Some(rules) = rule[word].as_array() {
            lines.push(format!("{indent}{mark} {word}: {outcome}"));
            rules.iter().for_each(|rule| rule_lines(rule, depth + 1, lines));
        }
    }
    if rule["match"].is_object() {
        let seen = match (rule["missing"] == true, rule["masked"] == true) {
            (true, _) => match text(&rule["unreadable"]) {
                "" => "it is missing".to_owned(),
                reason => format!("it is missing, because {reason}"),
            },
            (_, true) => "its value is not shown".to_owned(),
            _ => format!("it is {}", rule["actual"]),
        };
        lines.push(format!("{indent}{mark} {outcome}: {}; {seen}", rule["match"]));
    }
}

fn attempt_line(attempt: &Value) -> String {
    let outcome = match (attempt["status_code"].as_u64(), text(&attempt["error"])) {
        (Some(1..), _) if attempt["answer_incomplete"] == true => {
            format!("{}, and the rest of the answer did not come", attempt["status_code"])
        }
        (Some(1..), _) => attempt["status_code"].to_string(),
        (_, "") if attempt["error_kind"].is_null() => "the destination took it".to_owned(),
        (_, "") => text(&attempt["error_kind"]).to_owned(),
        (_, error) => error.to_owned(),
    };
    let parts = [
        ("queued", "queued_ms"),
        ("resolve", "resolve_ms"),
        ("connect", "connect_ms"),
        ("TLS", "tls_ms"),
        ("first byte", "first_byte_ms"),
    ];
    let parts = parts
        .into_iter()
        .filter_map(|(word, field)| millis(&attempt[field]).map(|taken| format!("{word} {taken}")));
    let mut line = format!(
        "attempt {} ({}) at {}: {outcome} in {} ({})",
        attempt["number"],
        text(&attempt["trigger"]),
        moment(&attempt["at"]),
        millis(&attempt["total_ms"]).unwrap_or_default(),
        parts.collect::<Vec<_>>().join(", "),
    );
    if !text(&attempt["address"]).is_empty() {
        line.push_str(&format!(" to {}", text(&attempt["address"])));
    }
    if attempt["reused"] == true {
        line.push_str(", connection kept");
    }
    if attempt["next_at"].is_number() {
        let because = match text(&attempt["next_because"]) {
            "retry_after" => "as the destination asked",
            "reconnect" => "immediately, on another connection",
            _ => "as the schedule says",
        };
        line.push_str(&format!("; next at {}, {because}", moment(&attempt["next_at"])));
    }
    line
}

fn millis(value: &Value) -> Option<String> {
    value.as_f64().map(|millis| format!("{millis:.1} ms"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn json_has_no_control_characters() {
        let value = json!({"a": "\u{9b}2J\u{7f}\u{1b}[2Jé\n"});
        let text = super::escaped(&format!("{value:#}"));
        assert!(text.chars().all(|c| !c.is_control() || c == '\n'), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }
}
