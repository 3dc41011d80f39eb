//! What scripts of any language get beyond their own library, without a VM.

pub(crate) mod form;
