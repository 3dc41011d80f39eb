//! Filters of the list of webhooks that a browser keeps under names of its own.
//!
//! They are in a cookie for these pages alone: nothing is stored of them, and they are there
//! without script.

use axum::{
    http::{
        HeaderMap, HeaderValue,
        header::{COOKIE, SET_COOKIE},
    },
    response::Response,
};
use webhook_core::Error;

use super::done;
use crate::{PATH, form::Submitted, page::Reply, session::Session};

/// The cookie's name.
const NAME: &str = "webhook-filters";
/// How many are kept, and how long the name and the filter of each may be: browsers keep no
/// more than 4 KiB in a cookie.
const MOST: usize = 8;
const MAX_NAME_BYTES: usize = 40;
const MAX_FILTER_BYTES: usize = 200;

/// A filter under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) name: String,
    /// The query of the list's address.
    pub(crate) filter: String,
}

/// What the browser keeps. What is too long or is no filter was written by somebody else.
pub(crate) fn read(headers: &HeaderMap) -> Vec<Kept> {
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = values.flat_map(|value| value.split(';')).filter_map(|it| it.split_once('='));
    let mut ours = cookies.filter(|(name, _)| name.trim() == NAME).map(|(_, value)| value.trim());
    let pairs = form_urlencoded::parse(ours.next().unwrap_or_default().as_bytes());
    let all = pairs.map(|(name, filter)| Kept { name: name.into(), filter: filter.into() });
    all.filter(Kept::fits).take(MOST).collect()
}

impl Kept {
    fn fits(&self) -> bool {
        !self.name.is_empty()
            && self.name.len() <= MAX_NAME_BYTES
            && self.filter.len() <= MAX_FILTER_BYTES
    }
}

/// To the list, with these filters kept.
fn keeping(all: &[Kept], filter: &str) -> Response {
    let pairs = all.iter().map(|it| (&*it.name, &*it.filter));
    let value = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let age = if all.is_empty() { 0 } else { 400 * 86_400 };
    let cookie =
        format!("{NAME}={value}; Path={PATH}/webhooks; Max-Age={age}; HttpOnly; SameSite=Strict");
    let mut response = done(&format!("/webhooks?{filter}"), "saved");
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The filter as a query again: whatever was sent is encoded anew.
fn normalized(filter: &str) -> String {
    let pairs = form_urlencoded::parse(filter.as_bytes());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Keeps a filter under a name, in place of the one that had the name.
pub(super) async fn keep(_session: Session, headers: HeaderMap, submitted: Submitted) -> Reply {
    let name = submitted.text("name").trim().to_owned();
    let kept = Kept { name, filter: normalized(submitted.text("filter")) };
    if !kept.fits() {
        let reason = format!("must have 1 to {MAX_NAME_BYTES} bytes");
        let (field, reason) = match kept.filter.len() > MAX_FILTER_BYTES {
            true => ("filter", format!("must be at most {MAX_FILTER_BYTES} bytes long")),
            false => ("name", reason),
        };
        return Err(Error::invalid(field, reason).into());
    }
    let mut all = read(&headers);
    all.retain(|it| it.name != kept.name);
    if all.len() == MOST {
        return Err(Error::invalid("name", format!("{MOST} filters are kept already")).into());
    }
    let filter = kept.filter.clone();
    all.push(kept);
    Ok(keeping(&all, &filter))
}

/// Forgets the filter of this name.
pub(super) async fn forget(_session: Session, headers: HeaderMap, submitted: Submitted) -> Reply {
    let mut all = read(&headers);
    all.retain(|it| it.name != submitted.text("name"));
    Ok(keeping(&all, &normalized(submitted.text("filter"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again_and_nothing_else() {
        let kept = |name: &str, filter: &str| Kept { name: name.into(), filter: filter.into() };
        let all = [kept("shop; failed", "bucket=a&status=failed"), kept("é", "search=a%26b")];
        let response = keeping(&all, "");
        let cookie = response.headers()[SET_COOKIE].to_str().expect("text");
        let (pair, rest) = cookie.split_once(';').expect("attributes");
        assert!(rest.contains("Path=/dashboard/webhooks;"), "{rest}");
        let headers = |cookie: &str| {
            HeaderMap::from_iter([(COOKIE, HeaderValue::try_from(cookie).expect("a value"))])
        };
        assert_eq!(read(&headers(&format!("other=1; {pair}"))), all);
        let long = "x".repeat(MAX_FILTER_BYTES + 1);
        for wrong in ["", "=a", &format!("a={long}"), &format!("{long}=a")] {
            assert_eq!(read(&headers(&format!("{NAME}={wrong}"))), [], "{wrong}");
        }
        let many = (0..20).map(|number| format!("{number}=a")).collect::<Vec<_>>().join("&");
        assert_eq!(read(&headers(&format!("{NAME}={many}"))).len(), MOST);
    }
}
