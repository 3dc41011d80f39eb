//! Enums of names.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

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
        let (wire, label) = words::variant(variant, rule.as_deref(), "choice")?;
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
