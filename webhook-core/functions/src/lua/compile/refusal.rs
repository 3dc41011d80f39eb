//! Why a source does not compile, in Lua's own words.

use piccolo::compiler::{CompileError, ParseError, ParseErrorKind};
use webhook_core::function::FunctionError;

use super::rewrite::line_number;
use crate::{foreign, list::list_of};

/// A source that does not compile.
pub(super) struct Refusal {
    pub(super) line: u32,
    pub(super) reason: String,
    /// Whether the text is no Lua at all.
    pub(super) is_of_signs: bool,
}

impl Refusal {
    /// With what to write in the place of a sign or a type of another language, if one is on the
    /// line.
    pub(super) fn on_line_of(mut self, source: &str) -> Self {
        let line = source.lines().nth((self.line as usize).saturating_sub(1)).unwrap_or_default();
        let code = line.split("--").next().unwrap_or_default();
        if self.is_of_signs && foreign::has_type(code) {
            self.reason = format!("{} ({})", foreign::TYPESCRIPT, self.reason);
            return self;
        }
        if let Some(here) = foreign::sign_in_lua(code).filter(|_| self.is_of_signs) {
            self.reason.push_str("; in Lua, ");
            self.reason.push_str(here);
        }
        self
    }
}

impl From<Refusal> for FunctionError {
    fn from(refusal: Refusal) -> Self {
        Self::Compile { line: refusal.line, reason: refusal.reason }
    }
}

impl From<ParseError> for Refusal {
    fn from(error: ParseError) -> Self {
        let reason = match error.kind {
            ParseErrorKind::Unexpected { unexpected, expected } => {
                format!("unexpected {}, expected {}", token(&unexpected), token(&expected))
            }
            ParseErrorKind::EndOfStream { expected: Some(expected) } => {
                format!("unexpected end of source, expected {}", token(&expected))
            }
            // The parser says so both at the end and at a block's end too many.
            ParseErrorKind::EndOfStream { expected: None } => {
                "unexpected end of source, or one 'end' too many".to_owned()
            }
            ParseErrorKind::RecursionLimit => "nested too deeply, at most 200 levels".to_owned(),
            other => other.to_string(),
        };
        Self { line: line_number(error.line_number), reason, is_of_signs: true }
    }
}

impl From<CompileError> for Refusal {
    fn from(error: CompileError) -> Self {
        let reason = error.kind.to_string();
        Self { line: line_number(error.line_number), reason, is_of_signs: false }
    }
}

/// The tokens that are signs: the name of each, and the sign behind it.
const SIGNS: [&str; 66] = list_of(
    "Minus - Add + Mul * Div / IDiv // Pow ^ Mod % Len # BitNotXor ~ BitAnd & BitOr | ShiftRight \
    >> ShiftLeft << Concat .. Dots ... Assign = LessThan < LessEqual <= GreaterThan > \
    GreaterEqual >= Equal == NotEqual ~= Dot . SemiColon ; Colon : DoubleColon :: Comma , \
    LeftParen ( RightParen ) LeftBracket [ RightBracket ] LeftBrace { RightBrace }",
);

/// A token as it is written in Lua.
fn token(debug: &str) -> String {
    if let Some(sign) = SIGNS.chunks_exact(2).find(|sign| sign[0] == debug) {
        return format!("'{}'", sign[1]);
    }
    match debug {
        "Break" | "Do" | "Else" | "ElseIf" | "End" | "Function" | "Goto" | "If" | "In"
        | "Local" | "Nil" | "For" | "While" | "Repeat" | "Until" | "Return" | "Then" | "True"
        | "False" | "Not" | "And" | "Or" => format!("'{}'", debug.to_ascii_lowercase()),
        "grouped expression or name" => "an expression".to_owned(),
        other => {
            let inner = |prefix: &str| other.strip_prefix(prefix)?.strip_suffix(')');
            let value = inner("Name(").or_else(|| inner("String("));
            if let Some(quoted) = value {
                return format!("'{}'", quoted.trim_matches('"'));
            }
            if let Some(number) = inner("Integer(").or_else(|| inner("Float(")) {
                return format!("'{number}'");
            }
            other.to_owned()
        }
    }
}
