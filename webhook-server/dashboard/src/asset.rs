//! The files that the pages load, by an address that changes with their content.

use std::sync::LazyLock;

use axum::{
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::PATH;

struct Asset {
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    /// `<hash>-<name>`
    file: String,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let files: [(&str, &str, &[u8]); 5] = [
        ("icon.svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
        ("style.css", "text/css; charset=utf-8", include_bytes!("../assets/style.css")),
        ("dashboard.js", SCRIPT, include_bytes!("../assets/dashboard.js")),
        ("htmx.min.js", SCRIPT, include_bytes!("../assets/htmx.min.js")),
        ("hx-sse.min.js", SCRIPT, include_bytes!("../assets/hx-sse.min.js")),
    ];
    let asset = |(name, content_type, bytes)| {
        let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
        let hash: String = digest.as_ref().iter().take(8).map(|b| format!("{b:02x}")).collect();
        Asset { name, content_type, bytes, file: format!("{hash}-{name}") }
    };
    files.into_iter().map(asset).collect()
});

/// The address of a file.
pub(crate) fn url(name: &str) -> String {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    format!("{PATH}/assets/{}", asset.map_or(name, |asset| &asset.file))
}

/// Serves a file. Its address changes with its content, so browsers keep it.
pub(crate) async fn serve(Path(file): Path<String>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.file == file) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, asset.bytes).into_response()
}
