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
        impl ::webhook_core::model::described::Choice for #name {
            const VALUES: &'static [Self] = &[#(#variants),*];
            const NAMES: &'static [(&'static str, &'static str)] = &[#(#names),*];
        }
    })
}
