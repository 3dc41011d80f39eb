//! What the bounds of the store promise.
