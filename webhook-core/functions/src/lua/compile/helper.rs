//! The hidden variables through which rewritten code reaches the host.

use super::ast::Name;

macro_rules! helpers {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// A hidden variable. Its name cannot be written in Lua, so that a
        /// script can neither reach nor shadow it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Helper {
            $(#[doc = $doc] $variant,)*
        }

        impl Helper {
            pub(super) const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

helpers! {
    Line "@line" "The line of the statement that runs.",
    First "@first" "Cuts its arguments to one value.",
    All "@all" "Gives back all its arguments.",
    Rest "@rest" "Gives back its arguments without the first so many.",
    Method "@method" "Calls a method by name, on strings too.",
    Path "@path" "Reads a field of a field, and says which one is missing.",
    Call "@call" "Calls a function, and says its name when it is none.",
    Tail "@tail" "Calls a function in the place of the one that returns.",
    Chain "@chain" "Looks for a circle of metatables after `__index` or `__newindex` was assigned.",
    Pack "@pack" "Makes the table `arg` of 5.1.",
    Delete "@delete" "Stores nil under a key.",
    For "@for" "Checks the three numbers of a `for`.",
    Concat "@concat" "`..` over all its arguments.",
    Add "@add" "`+`",
    Sub "@sub" "`-`",
    Mul "@mul" "`*`",
    Div "@div" "`/`",
    Mod "@mod" "`%`",
    Pow "@pow" "`^`",
    IDiv "@idiv" "`//`",
    Unm "@unm" "Unary `-`.",
    BAnd "@band" "`&`",
    BOr "@bor" "`|`",
    BXor "@bxor" "`~`",
    Shl "@shl" "`<<`",
    Shr "@shr" "`>>`",
    BNot "@bnot" "Unary `~`.",
    Lt "@lt" "`<`",
    Le "@le" "`<=`",
    Gt "@gt" "`>`",
    Ge "@ge" "`>=`",
}

/// Which helpers a program uses.
#[derive(Default)]
pub(super) struct Used {
    names: Vec<(Helper, Name)>,
}

impl Used {
    /// The name of a helper, which from now on is used.
    pub(super) fn name(&mut self, helper: Helper) -> Name {
        if let Some((_, name)) = self.names.iter().find(|(used, _)| *used == helper) {
            return Name::clone(name);
        }
        let name = Name::from(helper.text().as_bytes());
        self.names.push((helper, Name::clone(&name)));
        name
    }

    /// The helpers in the order in which the outer function declares them.
    pub(super) fn into_parts(self) -> (Vec<Helper>, Vec<Name>) {
        self.names.into_iter().unzip()
    }
}
