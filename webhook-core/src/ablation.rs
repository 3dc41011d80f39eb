//! For measuring only: which pieces that are there for speed are left out.

/// Whether the environment says that this piece is left out.
#[must_use]
pub fn without(name: &str) -> bool {
    static LEFT_OUT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let left_out = LEFT_OUT.get_or_init(|| std::env::var("WEBHOOK_WITHOUT").unwrap_or_default());
    left_out.split(',').any(|left_out| left_out == name)
}
