//! A webhook as the sample that a function or rules are tried on.

use axum::{
    extract::Path,
    response::{IntoResponse, Redirect},
};
use webhook_core::{
    BucketId, DeliveryId, FunctionId, OutputId,
    model::{Bucket, Function},
};

use crate::{
    PATH,
    page::{Problem, Reply},
    screen::Asked,
};

/// What it can be tried on: what `on` says, and what it is called.
pub(super) fn choices(bucket: Option<&Bucket>, functions: &[Function]) -> Vec<(String, String)> {
    let functions = functions.iter().map(|function| {
        (format!("function:{}", function.id), format!("function {}", function.spec.name))
    });
    let rules = bucket.into_iter().flat_map(|bucket| {
        bucket.outputs.iter().map(move |output| {
            let value = format!("rules:{}:{}", bucket.id, output.id);
            (value, format!("rules of {}", output.spec.name))
        })
    });
    rules.chain(functions).collect()
}

/// Leads to where it is tried. What is there, and whose, is that page's to say.
pub(super) async fn lead(Path(log): Path<String>, asked: Asked) -> Reply {
    let log: DeliveryId = log.parse().map_err(|_| Problem::no("webhook"))?;
    let path = place(asked.text("on"), log).ok_or_else(|| Problem::no("function or rules"))?;
    Ok(Redirect::to(&path).into_response())
}

fn place(on: &str, log: DeliveryId) -> Option<String> {
    let mut parts = on.split(':');
    match (parts.next()?, parts.next()?, parts.next()) {
        ("function", id, None) => {
            let id: FunctionId = id.parse().ok()?;
            Some(format!("{PATH}/functions/{id}?log={log}"))
        }
        ("rules", bucket, Some(output)) => {
            let (bucket, output): (BucketId, OutputId) =
                (bucket.parse().ok()?, output.parse().ok()?);
            Some(format!("{PATH}/buckets/{bucket}/outputs/{output}/rules?sample={log}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_leads_to_pages_of_ours_and_nowhere_else() {
        let id = "00000000-0000-7000-8000-000000000001";
        let log = id.parse().expect("an ID");
        let path = place(&format!("function:{id}"), log).expect("a function");
        assert_eq!(path, format!("/dashboard/functions/{id}?log={id}"));
        let path = place(&format!("rules:{id}:{id}"), log).expect("rules");
        assert!(path.ends_with(&format!("/rules?sample={id}")), "{path}");
        for wrong in ["", "function:", "function://evil", "rules:x:y", "other:1"] {
            assert_eq!(place(wrong, log), None, "{wrong}");
        }
    }
}
