//! Derives the description of a configured thing from its declaration: `Described` for a struct
//! or for an enum of structs, `Choice` for an enum of names. `webhook_core::model::described` says what
//! the attributes mean.

mod choice;
mod object;
mod tagged;
mod words;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, Error, parse_macro_input};

/// Describes each field of a struct, by its doc comment and `#[field(…)]`; or each kind of an
/// enum, whose variants have one struct each, by `#[kind(…)]`.
#[proc_macro_derive(Described, attributes(field, kind, described))]
pub fn described(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let made = match &input.data {
        Data::Struct(data) => object::derive(&input, data),
        Data::Enum(data) => tagged::derive(&input, data),
        Data::Union(_) => Err(Error::new_spanned(&input.ident, "a union cannot be described")),
    };
    made.unwrap_or_else(Error::into_compile_error).into()
}

/// Names each variant of an enum as it is on the wire, and labels it by `#[choice("…")]`.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn choice(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    choice::derive(&input).unwrap_or_else(Error::into_compile_error).into()
}
