//! Enums of names.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, LitStr, Result};

use crate::words;

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "only an enum is a choice"));
    };
    let name = &input.ident;
    let rule = words::serde(&input.attrs, "rename_all");
    let (mut variants, mut names) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        let ident = &variant.ident;
        let wire = words::serde(&variant.attrs, "rename")
            .unwrap_or_else(|| words::renamed(ident, rule.as_deref()));
        let mut label = wire.clone();
        for attribute in variant.attrs.iter().filter(|it| it.path().is_ident("choice")) {
            label = attribute.parse_args::<LitStr>()?.value();
        }
        variants.push(quote!(Self::#ident));
        names.push(quote!((#wire, #label)));
    }
    Ok(quote! {
        impl ::webhook_wire::described::Choice for #name {
            const VALUES: &'static [Self] = &[#(#variants),*];
            const NAMES: &'static [(&'static str, &'static str)] = &[#(#names),*];
        }

        impl ::webhook_wire::described::Value for #name {
            fn shape(&self) -> ::webhook_wire::described::Shape {
                ::webhook_wire::described::Shape::Choice(
                    <Self as ::webhook_wire::described::Choice>::NAMES,
                )
            }

            fn text(&self) -> String {
                ::webhook_wire::described::Choice::name(*self).to_owned()
            }

            fn set_text(&mut self, typed: &str) -> Result<(), String> {
                *self = ::webhook_wire::described::Choice::of_name(typed)?;
                Ok(())
            }
        }

        impl ::webhook_wire::described::Optional for #name {
            const SHAPE: ::webhook_wire::described::Shape = ::webhook_wire::described::Shape::Choice(
                <Self as ::webhook_wire::described::Choice>::NAMES,
            );

            fn text(&self) -> String {
                ::webhook_wire::described::Choice::name(*self).to_owned()
            }

            fn typed(text: &str) -> Result<Self, String> {
                ::webhook_wire::described::Choice::of_name(text)
            }
        }

        impl ::webhook_wire::described::Entry for #name {
            const SHAPE: ::webhook_wire::described::Shape = ::webhook_wire::described::Shape::Texts;

            fn text(&self) -> String {
                ::webhook_wire::described::Choice::name(*self).to_owned()
            }

            fn typed(text: &str) -> Result<Self, String> {
                ::webhook_wire::described::Choice::of_name(text)
            }
        }
    })
}
