//! What a source shows before it runs: fields that a text or the argument of a handler does not have.

use webhook_core::function::FunctionError;

use super::{
    source::takes_payload,
    styles,
    tokens::{Token, tokens},
};
use crate::list::list_of;

/// What every text has.
const OF_TEXTS: [&str; 46] = list_of(
    "length at charAt charCodeAt codePointAt concat endsWith includes indexOf isWellFormed lastIndexOf \
    localeCompare match matchAll normalize padEnd padStart repeat replace replaceAll search slice split \
    startsWith substr substring toLocaleLowerCase toLocaleUpperCase toLowerCase toString toUpperCase \
    toWellFormed trim trimEnd trimLeft trimRight trimStart valueOf constructor hasOwnProperty \
    isPrototypeOf propertyIsEnumerable toLocaleString __proto__ then toJSON",
);

/// What `handler` is given.
pub(super) const OF_WEBHOOKS: [&str; 7] =
    list_of("method url payload cancel headers eventType channels");

/// What the handler of `addHandler` is given.
pub(super) const OF_REQUESTS: [&str; 5] = list_of("headers body query parsed_query path");

/// Names the fields of bodies in both languages.
const BODIES: [&str; 4] = list_of("body RequestBody responseBody ResponseBody");

/// Refuses a source with a field that its object does not have. The object must be known by its name.
pub(super) fn refuse(source: &str) -> Result<(), FunctionError> {
    if styles::of(source).is_some() {
        return Ok(());
    }
    let Some(tokens) = tokens(source) else { return Ok(()) };
    let script = Script { source, tokens: &tokens };
    let transform = script.parameter_of("transform");
    let added = script.parameter_of_added();
    let handler = script.parameter_of("handler").filter(|_| {
        let handlers = tokens.iter().filter(|token| token.is("handler")).count();
        handlers == 1 && added.is_none() && !tokens.iter().any(|token| token.is("r"))
    });
    if let Some((declared, name)) = transform.filter(|_| added.is_none()) {
        if !takes_payload(&source[tokens[declared].at..]) {
            script.refuse_fields_of_bodies(name, 1)?;
        }
    } else {
        script.refuse_fields_of_bodies("r", 0)?;
    }
    if let Some((_, name)) = handler {
        script.refuse_fields(name, &OF_WEBHOOKS, "payload")?;
    }
    if let Some(name) = added {
        script.refuse_fields(name, &OF_REQUESTS, "body")?;
    }
    Ok(())
}

struct Script<'s> {
    source: &'s str,
    tokens: &'s [Token<'s>],
}

impl<'s> Script<'s> {
    /// The name of the first parameter of a function that is declared once, and where that begins.
    fn parameter_of(&self, function: &str) -> Option<(usize, &'s str)> {
        let tokens = self.tokens;
        let place = tokens.windows(2).position(|pair| {
            let is_function = pair[0].is("function") || (pair[0].is("const") || pair[0].is("let"));
            is_function && pair[1].is(function)
        })?;
        let from = if tokens[place].is("function") {
            place
        } else {
            place + 2 + usize::from(tokens.get(place + 2)?.is("="))
        };
        Some((from, self.parameter(from)?))
    }

    fn parameter_of_added(&self) -> Option<&'s str> {
        let tokens = self.tokens;
        let place = tokens.iter().position(|token| token.is("addHandler"))?;
        let event = tokens.get(place + 2).filter(|_| tokens[place + 1].is("("))?;
        (event.text.trim_matches(['"', '\'']) == "transform").then_some(())?;
        self.parameter(place + 4)
    }

    /// The first parameter of the function that begins at `from`, if it is a name.
    fn parameter(&self, from: usize) -> Option<&'s str> {
        let tokens = self.tokens;
        let mut next = from;
        while tokens.get(next).is_some_and(|token| token.is("async") || token.is("function")) {
            next += 1;
        }
        if tokens.get(next)?.is_word() && tokens.get(next + 1)?.is("(") {
            next += 1;
        }
        if tokens.get(next)?.is("(") {
            next += 1;
        }
        let (name, behind) = (tokens.get(next)?, tokens.get(next + 1)?);
        let ends = [",", ")", "=>"].iter().any(|sign| behind.is(sign));
        (name.is_word() && ends).then_some(name.text)
    }

    /// Whether a name is declared no more often than as the parameters that are known.
    fn has_one_meaning(&self, name: &str, mut parameters: usize) -> bool {
        for (index, _) in self.tokens.iter().enumerate().filter(|(_, token)| token.is(name)) {
            let before =
                |back: usize| index.checked_sub(back).map_or("", |at| self.tokens[at].text);
            let behind = self.tokens.get(index + 1).map_or("", |token| token.text);
            if matches!(before(1), "." | "?.") {
                continue;
            }
            let is_declared = matches!(before(1), "const" | "let" | "var" | "function" | "class")
                || matches!(behind, "=>" | "=");
            let in_list = matches!(before(1), "(" | "," | "{" | "[")
                && matches!(behind, ")" | "," | "}" | "]" | "=>" | "=");
            if is_declared || in_list {
                // A value that is handed on looks like a parameter, and is taken for one.
                match parameters.checked_sub(1) {
                    Some(left) => parameters = left,
                    None => return false,
                }
            }
        }
        true
    }

    fn refuse_fields_of_bodies(&self, name: &str, parameters: usize) -> Result<(), FunctionError> {
        if !self.has_one_meaning(name, parameters) {
            return Ok(());
        }
        for place in self.fields_of(name).filter(|place| BODIES.contains(&self.tokens[*place].text))
        {
            if let Some(field) = self.field_behind(place).filter(|field| !OF_TEXTS.contains(field))
            {
                let body = self.tokens[place].text;
                return self.refused(
                    place,
                    format!(
                        "{name}.{body} is a text and has no field {field:?}: write const body = \
                    JSON.parse({name}.{body}), change body, and set {name}.{body} = body"
                    ),
                );
            }
        }
        Ok(())
    }

    fn refuse_fields(
        &self,
        name: &str,
        known: &[&str],
        payload: &str,
    ) -> Result<(), FunctionError> {
        if !self.has_one_meaning(name, 1) {
            return Ok(());
        }
        for place in self.fields_of(name) {
            let field = self.tokens[place].text;
            if self.tokens[place].is_word() && !known.contains(&field) {
                return self.refused(place, format!(
                    "{name} has no field {field:?}: the payload is {name}.{payload}, so write {name}.{payload}.{field}"
                ));
            }
        }
        Ok(())
    }

    /// The places of the fields that a name has in the source.
    fn fields_of(&self, name: &str) -> impl Iterator<Item = usize> {
        let is_name = |index: usize| {
            self.tokens[index].is(name)
                && !index.checked_sub(1).is_some_and(|before| {
                    self.tokens[before].is(".") || self.tokens[before].is("?.")
                })
        };
        (0..self.tokens.len().saturating_sub(2))
            .filter(move |index| is_name(*index) && self.field_behind(*index).is_some())
            .map(|index| index + 2)
    }

    /// The field behind a place.
    fn field_behind(&self, place: usize) -> Option<&'s str> {
        let sign = self.tokens.get(place + 1)?;
        let field = self.tokens.get(place + 2).filter(|field| field.is_word())?;
        (sign.is(".") || sign.is("?.")).then_some(field.text)
    }

    fn refused(&self, place: usize, reason: String) -> Result<(), FunctionError> {
        let before = &self.source.as_bytes()[..self.tokens[place].at];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        Err(FunctionError::Compile { line: u32::try_from(line).unwrap_or(u32::MAX), reason })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_that_are_not_there_are_refused() {
        for (source, field) in [
            ("r.body.email = '***'", "email"),
            ("if (true) {\n  delete r.body.email }", "email"),
            ("r.RequestBody?.card.number", "card"),
            ("function transform(request) { delete request.body.email; return request }", "email"),
            ("const transform = async (r) => { r.body.email = 1; return r }", "email"),
            ("function handler(event) { delete event.email; return event }", "email"),
            ("const handler = (event) => { event.data.email = 1; return event }", "data"),
            ("addHandler('transform', req => { delete req.payload; return req })", "payload"),
            (
                "addHandler(\"transform\", async (req, context) => { req.email = 1; return req })",
                "email",
            ),
        ] {
            let error = refuse(source).expect_err(source).to_string();
            assert!(error.contains(&format!("has no field \"{field}\"")), "{source}: {error}");
        }
        let error = refuse("const a = 1\n\nr.body.a").expect_err("a field");
        assert!(matches!(error, FunctionError::Compile { line: 3, .. }), "{error:?}");
    }

    #[test]
    fn what_may_be_meant_otherwise_is_not_refused() {
        for source in [
            "r.body.length + r.body.trim().email",
            "// r.body.email",
            "'r.body.email'",
            "a.r.body.email",
            "JSON.parse(r.body).records.filter((r) => r.body.email)",
            "list.map(r => r.body.email)",
            "const { r } = a; r.body.email",
            "function f(r) { return r.body.email }",
            "for (const r of all) r.body.email",
            "function transform(payload) { delete payload.body.email; return payload }",
            "function transform(data) { return data.map((data) => data.body.email) }",
            "function handler(x) { return x.id } r.body = handler({ id: 1 })",
            "function handler(event) { return [1].map((event) => event.id) }",
            "addHandler('transform', (request) => { request.body.email = 1; return request })",
            "function handler({ payload, ...rest }) { return rest.x }",
        ] {
            assert_eq!(refuse(source), Ok(()), "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(source in "\\PC{0,100}", parts in r"(r|\.|body|addHandler|'transform'|[ \n;{}(,)=>]|function|handler|transform|event)*") {
            let _ = (refuse(&source), refuse(&parts));
        }
    }
}
