//! What S3 says when it refuses.

use crate::s3::ObjectError;
use webhook_core::forward::ForwardResponse;

/// The code in the XML of an error, such as `AccessDenied`.
pub(crate) fn code(response: &ForwardResponse) -> Option<&str> {
    let text = std::str::from_utf8(&response.body).ok()?;
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_code = |code: &&str| {
        (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    Some(code).filter(is_code)
}

/// The error of a request that was refused. The rest of the answer may repeat what was signed,
/// and is not told.
pub(crate) fn refused(method: &str, response: &ForwardResponse) -> ObjectError {
    let status = response.status;
    ObjectError::new(match code(response) {
        Some(code) => format!("{method} was answered {status}, {code}"),
        None => format!("{method} was answered {status}"),
    })
}
