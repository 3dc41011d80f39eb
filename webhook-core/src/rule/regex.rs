//! Regexes with the syntax and the meaning of RE2, whose cost is known beforehand.

use regex_automata::{
    Input,
    dfa::{Automaton, StartKind, dense},
    meta,
    nfa::thompson::{self, NFA, WhichCaptures},
};
use regex_syntax::{
    ParserBuilder,
    ast::{self, AssertionKind, Ast, ClassPerl, ClassPerlKind, ClassSetItem, Span, Visitor},
    hir::Hir,
};

use super::{MAX_REGEX_BYTES, REGEX_MEMORY_BYTES, SLOW_REGEX_STEPS};

/// How many groups and repetitions may be inside each other.
const NEST_LIMIT: u32 = 100;

pub(super) enum Regex {
    /// A table with a step for each byte, which takes a nanosecond or two for
    /// each whatever the value.
    Table(Box<dense::DFA<Vec<u32>>>),
    /// One whose table would be too large. There are values on which the search
    /// keeps track of every state of the automaton at each byte.
    Slow { regex: Box<meta::Regex>, max_bytes: usize },
}

impl Regex {
    /// Compiles `pattern`, or says what is wrong with it.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_REGEX_BYTES {
            return Err(format!("is longer than {MAX_REGEX_BYTES} bytes"));
        }
        let hir = parse(pattern)?;
        let thompson = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(REGEX_MEMORY_BYTES));
        let too_large = || format!("takes more than {REGEX_MEMORY_BYTES} bytes when compiled");
        let compiler = NFA::compiler().configure(thompson).build_from_hir(&hir);
        let nfa = compiler.map_err(|_| too_large())?;

        let table = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .dfa_size_limit(Some(REGEX_MEMORY_BYTES))
            .determinize_size_limit(Some(REGEX_MEMORY_BYTES));
        if let Ok(dfa) = dense::Builder::new().configure(table).build_from_nfa(&nfa) {
            return Ok(Self::Table(Box::new(dfa)));
        }
        let config = meta::Config::new()
            .utf8_empty(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(REGEX_MEMORY_BYTES))
            .onepass_size_limit(Some(REGEX_MEMORY_BYTES))
            .hybrid_cache_capacity(REGEX_MEMORY_BYTES);
        let regex = meta::Builder::new().configure(config).build_from_hir(&hir);
        let regex = Box::new(regex.map_err(|_| too_large())?);
        Ok(Self::Slow { regex, max_bytes: SLOW_REGEX_STEPS / nfa.states().len().max(1) })
    }

    pub(super) fn is_slow(&self) -> bool {
        matches!(self, Self::Slow { .. })
    }

    /// A search through the values of one parameter.
    pub(super) fn search(&self) -> Search<'_> {
        let bytes_left = match self {
            Self::Table(_) => usize::MAX,
            Self::Slow { max_bytes, .. } => *max_bytes,
        };
        Search { regex: self, bytes_left }
    }
}

pub(super) struct Search<'r> {
    regex: &'r Regex,
    bytes_left: usize,
}

impl Search<'_> {
    pub(super) fn finds_in(&mut self, value: &[u8]) -> bool {
        let value = value.get(..self.bytes_left).unwrap_or(value);
        self.bytes_left -= value.len();
        match self.regex {
            Regex::Table(dfa) => {
                matches!(dfa.try_search_fwd(&Input::new(value).earliest(true)), Ok(Some(_)))
            }
            Regex::Slow { regex, .. } => regex.is_match(value),
        }
    }
}

fn parse(pattern: &str) -> Result<Hir, String> {
    let ast = ast::parse::ParserBuilder::new().nest_limit(NEST_LIMIT).build().parse(pattern);
    let ast = ast.map_err(|error| error.kind().to_string())?;
    let mut ascii = String::with_capacity(pattern.len());
    let mut done = 0;
    for (span, text) in ast::visit(&ast, PerlClasses::default()).unwrap_or_default() {
        ascii.push_str(pattern.get(done..span.start.offset).unwrap_or_default());
        ascii.push_str(text);
        done = span.end.offset;
    }
    ascii.push_str(pattern.get(done..).unwrap_or_default());
    // What replaces a class nests one deeper.
    let mut parser = ParserBuilder::new().utf8(false).nest_limit(NEST_LIMIT + 1).build();
    parser.parse(&ascii).map_err(|error| match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "is not a regex".to_owned(),
    })
}

/// Collects the classes and assertions that are ASCII in RE2 and Unicode in this
/// syntax, with what says the same as in RE2.
#[derive(Default)]
struct PerlClasses {
    found: Vec<(Span, &'static str)>,
}

impl PerlClasses {
    fn add(&mut self, class: &ClassPerl) {
        let text = match (&class.kind, class.negated) {
            (ClassPerlKind::Digit, false) => "[0-9]",
            (ClassPerlKind::Digit, true) => "[^0-9]",
            (ClassPerlKind::Space, false) => r"[\t\n\f\r\x20]",
            (ClassPerlKind::Space, true) => r"[^\t\n\f\r\x20]",
            (ClassPerlKind::Word, false) => "[0-9A-Za-z_]",
            (ClassPerlKind::Word, true) => "[^0-9A-Za-z_]",
        };
        self.found.push((class.span, text));
    }
}

impl Visitor for PerlClasses {
    type Output = Vec<(Span, &'static str)>;
    type Err = std::convert::Infallible;

    fn finish(self) -> Result<Self::Output, Self::Err> {
        Ok(self.found)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        match ast {
            Ast::ClassPerl(class) => self.add(class),
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::WordBoundary => self.found.push((assertion.span, r"(?-u:\b)")),
                AssertionKind::NotWordBoundary => self.found.push((assertion.span, r"(?-u:\B)")),
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Self::Err> {
        if let ClassSetItem::Perl(class) = item {
            self.add(class);
        }
        Ok(())
    }
}
