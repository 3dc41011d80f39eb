//! Structs, whose fields are described one by one.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{
    Attribute, DataStruct, DeriveInput, Error, Fields, Ident, Result, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

use crate::words;

/// One entry of `#[field(…)]`: a flag, a fact with a value, or a range.
struct Entry {
    name: Ident,
    value: Option<(TokenStream, Option<TokenStream>)>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = Ident::parse_any(input)?;
        if !input.peek(Token![=]) {
            return Ok(Self { name, value: None });
        }
        input.parse::<Token![=]>()?;
        let least = until_end(input)?;
        let most = match input.peek(Token![..=]) {
            true => {
                input.parse::<Token![..=]>()?;
                Some(until_end(input)?)
            }
            false => None,
        };
        let value = (least, most);
        Ok(Self { name, value: Some(value) })
    }
}

/// The tokens before a comma or the dots of a range: how an expression is parsed depends on
/// features of the parser that other crates switch on.
fn until_end(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !(input.is_empty() || input.peek(Token![,]) || input.peek(Token![..=])) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    Ok(tokens)
}

/// The assignments that `#[field(…)]` stands for.
fn facts(attributes: &[Attribute]) -> Result<Vec<TokenStream>> {
    let mut facts = Vec::new();
    let is_ours = |it: &&Attribute| it.path().is_ident("field");
    // `#[field]` alone says that there is a field.
    for attribute in attributes.iter().filter(is_ours).filter(|it| it.meta.require_list().is_ok()) {
        let entries =
            attribute.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated)?;
        for Entry { name, value } in entries {
            facts.push(match value {
                None => quote!(field.#name = true;),
                Some((value, None)) => quote!(field.#name = #value;),
                Some((least, Some(most))) => {
                    quote!(field.#name = Some(((#least) as i64, (#most) as i64));)
                }
            });
        }
    }
    Ok(facts)
}

pub(crate) fn derive(input: &DeriveInput, data: &DataStruct) -> Result<TokenStream> {
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "the fields need names"));
    };
    let (mut described, mut idents) = (Vec::new(), Vec::new());
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        let attributes = &field.attrs;
        if !attributes.iter().any(|it| it.path().is_ident("field")) {
            continue;
        }
        let name = words::serde(attributes, "rename").unwrap_or_else(|| ident.unraw().to_string());
        let help = words::help(attributes);
        let facts = facts(attributes)?;
        described.push(quote! {{
            let mut field = ::webhook_core::model::described::Field::new(#name, #help);
            #(#facts)*
            field
        }});
        idents.push(ident);
    }
    let (mut has_rules, mut is_row) = (false, false);
    for attribute in input.attrs.iter().filter(|it| it.path().is_ident("described")) {
        for flag in attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)? {
            has_rules |= flag == "rules";
            is_row |= flag == "row";
        }
    }
    let rules = has_rules.then(|| {
        quote! {
            fn rules(&self) -> Result<(), ::webhook_core::model::described::Invalid> {
                Self::rules(self)
            }
        }
    });
    let name = &input.ident;
    let value = value(name);
    let row = is_row.then(|| {
        quote! {
            impl ::webhook_core::model::described::Entry for #name {
                const SHAPE: ::webhook_core::model::described::Shape =
                    ::webhook_core::model::described::Shape::Rows;

                fn object(&self) -> Option<&dyn ::webhook_core::model::described::Described> {
                    Some(self)
                }

                fn object_mut(&mut self) -> Option<&mut dyn ::webhook_core::model::described::Described> {
                    Some(self)
                }

                fn blank() -> Option<Self> {
                    Some(Self::default())
                }

                fn boxed() -> Option<Box<dyn ::webhook_core::model::described::Described>> {
                    Some(Box::new(Self::default()))
                }
            }
        }
    });
    let at: Vec<_> = (0..idents.len()).collect();
    Ok(quote! {
        #[allow(clippy::as_conversions, clippy::cast_lossless, clippy::cast_possible_wrap, clippy::unnecessary_cast)]
        impl ::webhook_core::model::described::Described for #name {
            fn fields(&self) -> Vec<(&'static ::webhook_core::model::described::Field, &dyn ::webhook_core::model::described::Value)> {
                static FIELDS: &[::webhook_core::model::described::Field] = &[#(#described),*];
                vec![#((&FIELDS[#at], &self.#idents as &dyn ::webhook_core::model::described::Value)),*]
            }

            fn values(&mut self) -> Vec<&mut dyn ::webhook_core::model::described::Value> {
                vec![#(&mut self.#idents),*]
            }

            fn unset(&self) -> Box<dyn ::webhook_core::model::described::Described> {
                Box::new(Self::default())
            }

            #rules
        }

        #value

        #row
    })
}

/// How a field holds an object of this type.
pub(crate) fn value(name: &Ident) -> TokenStream {
    quote! {
        impl ::webhook_core::model::described::Value for #name {
            fn shape(&self) -> ::webhook_core::model::described::Shape {
                ::webhook_core::model::described::Shape::Object
            }

            fn object(&self) -> Option<&dyn ::webhook_core::model::described::Described> {
                Some(self)
            }

            fn object_mut(&mut self) -> Option<&mut dyn ::webhook_core::model::described::Described> {
                Some(self)
            }

            fn blank(&self) -> Option<Box<dyn ::webhook_core::model::described::Described>> {
                Some(Box::new(Self::default()))
            }
        }
    }
}
