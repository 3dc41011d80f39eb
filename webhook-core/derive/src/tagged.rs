//! Enums whose variants are structs: a kind decides which fields there are.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Fields, Result};

use crate::{object, words};

pub(crate) fn derive(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let rule = words::serde(&input.attrs, "rename_all");
    let (mut kinds, mut names, mut read, mut write, mut make) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for variant in &data.variants {
        let ident = &variant.ident;
        let (wire, label) = words::variant(variant, rule.as_deref(), "kind")?;
        match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {}
            _ => return Err(Error::new_spanned(ident, "a kind has one struct with its fields")),
        }
        kinds.push(quote!((#wire, #label)));
        names.push(quote!(Self::#ident(_) => #wire));
        read.push(quote!(Self::#ident(object) => object));
        write.push(quote!(Self::#ident(object) => object));
        make.push(quote!(#wire => Self::#ident(Default::default())));
    }
    let name = &input.ident;
    let value = object::value(name);
    Ok(quote! {
        impl #name {
            fn described(&self) -> &dyn ::webhook_core::model::described::Described {
                match self { #(#read),* }
            }

            fn described_mut(&mut self) -> &mut dyn ::webhook_core::model::described::Described {
                match self { #(#write),* }
            }
        }

        impl ::webhook_core::model::described::Described for #name {
            fn fields(&self) -> Vec<(&'static ::webhook_core::model::described::Field, &dyn ::webhook_core::model::described::Value)> {
                self.described().fields()
            }

            fn values(&mut self) -> Vec<&mut dyn ::webhook_core::model::described::Value> {
                self.described_mut().values()
            }

            fn unset(&self) -> Box<dyn ::webhook_core::model::described::Described> {
                self.described().unset()
            }

            fn rules(&self) -> Result<(), ::webhook_core::model::described::Invalid> {
                self.described().rules()
            }

            fn kinds(&self) -> &'static [(&'static str, &'static str)] {
                &[#(#kinds),*]
            }

            fn kind(&self) -> &'static str {
                match self { #(#names),* }
            }

            fn set_kind(&mut self, kind: &str) -> bool {
                *self = match kind {
                    #(#make,)*
                    _ => return false,
                };
                true
            }
        }

        #value
    })
}
