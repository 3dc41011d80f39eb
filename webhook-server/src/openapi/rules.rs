//! The schemas of rules, made from the words that rules know. Rules are read from JSON as they
//! are, so that no type describes them.

use serde_json::{Map, Value, json};
use webhook_core::rule::{
    MATCH_TYPES, MAX_DEPTH, MAX_REGEX_BYTES, MAX_REGEXES, MAX_RULES, MAX_SIGNATURES, MatchType,
    Operand, ParameterName, ParameterSource, SOURCES,
};

/// Matches by what they compare with: the name of the schema, and what else it says.
const MATCHES: [(&str, Operand, &str); 7] = [
    ("ValueMatch", Operand::Text, ""),
    ("NumberMatch", Operand::Number, "A JSON number, and a text that is one, are numbers."),
    ("ExistsMatch", Operand::None, ""),
    ("SubstringMatch", Operand::Part, ""),
    ("RegexMatch", Operand::Regex, "At most 100 matches may be of this type."),
    (
        "SignatureMatch",
        Operand::Secret,
        "`sha1=`, `sha256=` or `sha512=` may stand before the signature. Of several signatures, \
         separated by commas, one has to be right. At most 100 matches may be of these types.",
    ),
    ("AddressMatch", Operand::Networks, "Blanks separate the networks (CIDR) and addresses."),
];

/// Adds the schemas of rules.
pub(super) fn add(schemas: &mut Map<String, Value>) {
    const { assert!(MAX_REGEXES == 100 && MAX_SIGNATURES == 100, "the descriptions say so") };
    schemas.insert("Rules".to_owned(), rules());
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let matches: Vec<_> = MATCHES.iter().map(|(name, ..)| reference(name)).collect();
    schemas.insert(
        "Match".to_owned(),
        json!({
            "description": "One test of one parameter of the webhook. A parameter that is missing \
                passes no test, `does-not-contain` and `is-not` included.",
            "oneOf": matches,
        }),
    );
    for (name, operand, more) in MATCHES {
        let types: Vec<_> = MATCH_TYPES.iter().filter(|it| it.operand == operand).collect();
        schemas.insert(name.to_owned(), match_schema(&types, operand, more));
    }
    let mut parameters: Vec<(String, Vec<&ParameterSource>)> = Vec::new();
    for source in SOURCES.iter().filter(|it| it.is_of_webhooks()) {
        let name = schema_name(source);
        match parameters.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sources)) => sources.push(source),
            None => parameters.push((name, vec![source])),
        }
    }
    let references: Vec<_> = parameters.iter().map(|(name, _)| reference(name)).collect();
    schemas.insert(
        "MatchParameter".to_owned(),
        json!({ "description": "The part of the webhook that is tested.", "oneOf": references }),
    );
    schemas.extend(parameters.into_iter().map(|(name, sources)| (name, parameter(&sources))));
}

fn rules() -> Value {
    let rules = json!({ "$ref": "#/components/schemas/Rules" });
    let list = json!({ "type": "array", "items": rules, "maxItems": MAX_RULES - 1 });
    let with = |description: &str| {
        let mut list = list.clone();
        list["type"] = json!(["array", "null"]);
        list["description"] = json!(description);
        list
    };
    json!({
        "description": format!("Which webhooks pass an output. `{{}}` lets every webhook pass; otherwise \
            exactly one of the four keys is there. At most {MAX_DEPTH} rules may be inside each \
            other, and {MAX_RULES} in all."),
        "type": "object",
        "properties": {
            "and": with("Passes when every rule passes; so does an empty list."),
            "or": with("Passes when some rule passes; an empty list never does."),
            "not": {
                "description": "Passes when none of the rules passes.",
                "oneOf": [rules, list, { "type": "null" }],
            },
            "match": {
                "description": "Passes when the parameter is there and passes the test.",
                "oneOf": [{ "$ref": "#/components/schemas/Match" }, { "type": "null" }],
            },
        },
    })
}

fn match_schema(types: &[&MatchType], operand: Operand, more: &str) -> Value {
    let words: Vec<_> = types.iter().flat_map(|it| it.words()).collect();
    let said = |it: &&MatchType| format!("{}: the parameter {}.", listed(it.words()), it.help);
    let mut said: Vec<_> = types.iter().map(said).collect();
    said.extend((!more.is_empty()).then(|| more.to_owned()));
    let mut properties = json!({ "type": { "type": "string", "enum": words } });
    let mut required = vec!["type"];
    if operand != Operand::Networks {
        properties["parameter"] = json!({ "$ref": "#/components/schemas/MatchParameter" });
        required.push("parameter");
    }
    if let Some(field) = operand.field() {
        properties[field] = match operand {
            Operand::Number => json!({
                "type": ["number", "string"], "minimum": f64::MIN, "maximum": f64::MAX,
                "pattern": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$",
            }),
            Operand::Regex => {
                json!({ "type": "string", "format": "regex", "maxLength": MAX_REGEX_BYTES })
            }
            Operand::Secret | Operand::Networks => json!({ "type": "string", "minLength": 1 }),
            _ => json!({ "type": "string" }),
        };
        required.push(field);
    }
    json!({
        "description": said.join(" "), "type": "object",
        "required": required, "properties": properties,
    })
}

/// `contains`, or `substring`.
fn listed(words: impl Iterator<Item = &'static str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", or ")
}

/// Sources whose parameters have the same shape have one schema.
fn schema_name(source: &ParameterSource) -> String {
    match (&source.name, source.word) {
        (ParameterName::None, _) => "WholeParameter".to_owned(),
        (_, "string") => "TextParameter".to_owned(),
        (ParameterName::Text(_), "payload" | "query") => "NamedParameter".to_owned(),
        (_, word) => {
            let (first, rest) = word.split_at(1);
            format!("{}{rest}Parameter", first.to_uppercase())
        }
    }
}

fn parameter(sources: &[&ParameterSource]) -> Value {
    let words: Vec<_> = sources.iter().flat_map(|it| it.words()).collect();
    let mut properties = json!({
        "source": { "type": "string", "enum": words },
        "base64decode": {
            "description": "Whether the value is decoded from base64 first; what does not decode \
                is missing.",
            "type": ["boolean", "null"],
        },
        "envname": {
            "description": "Kept for clients that send it.", "type": ["string", "null"],
        },
    });
    let mut required = vec!["source"];
    let mut said = Vec::new();
    for source in sources {
        let words = listed(source.words());
        said.push(match source.name {
            ParameterName::Text(name) => {
                format!("{words}: `name` is {name}; the value is {}.", source.help)
            }
            _ => format!("{words}: {}.", source.help),
        });
        match source.name {
            ParameterName::OneOf(parts) => {
                let words: Vec<_> = parts.iter().map(|it| it.word).collect();
                said.extend(parts.iter().map(|it| format!("`{}`: {}.", it.word, it.help)));
                properties["name"] = json!({ "type": "string", "enum": words });
            }
            ParameterName::Text(_) => {
                properties["name"] = match source.word {
                    "string" => json!({ "type": "string" }),
                    "header" => json!({
                        "type": "string", "minLength": 1,
                        "pattern": "^[-!#$%&'*+.^_`|~0-9A-Za-z]+$",
                    }),
                    _ => json!({ "type": "string", "minLength": 1 }),
                };
            }
            _ => {}
        }
    }
    if !properties["name"].is_null() {
        required.push("name");
    }
    json!({
        "description": said.join(" "), "type": "object",
        "required": required, "properties": properties,
    })
}
