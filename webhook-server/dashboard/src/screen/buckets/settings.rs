//! What a caller may write of a bucket.

use axum::response::Response;
use webhook_core::model::{Bucket, BucketSpec, Extension, LogRetention};

use crate::{
    PATH,
    form::{Form, Submitted},
    page::{Frame, Reply},
    screen::{
        On, done,
        edit::{Edit, Remove},
        of_bucket::in_bucket,
    },
    session::Session,
};

/// A retention with two empty fields is no retention.
fn without_empty_retention(mut spec: BucketSpec) -> BucketSpec {
    if spec.retention.set() == Some(&LogRetention::default()) {
        spec.retention = Extension::Reset;
    }
    spec
}

fn creating(session: &Session) -> Edit {
    let frame = Frame::new(session, "Buckets", "New bucket").below("Buckets", "/buckets");
    let form = Form::new(format!("{PATH}/buckets/new"), "Create").of(&BucketSpec::default());
    Edit::new(frame, form).lead("It begins with one input, whose address senders use.")
}

pub(crate) async fn new(session: Session) -> Response {
    creating(&session).show()
}

pub(crate) async fn create(session: Session, submitted: Submitted) -> Reply {
    let page = creating(&session);
    let then = async |spec| {
        let spec = without_empty_retention(spec);
        let bucket = session.admin().create_bucket(&session.caller, spec).await?;
        Ok(done(&format!("/buckets/{}", bucket.id), "created"))
    };
    page.submit(BucketSpec::default(), &submitted, then).await
}

fn editing(session: &Session, bucket: &Bucket) -> Edit {
    let path = format!("{PATH}/buckets/{}", bucket.id);
    let frame = Frame::new(session, "Buckets", format!("Settings of {}", bucket.spec.name));
    let remove = Remove::new(
        "Delete the bucket",
        format!("{path}/delete"),
        "Its inputs stop to answer, and its outputs get nothing more. The logs stay until they \
         are too old.",
    );
    let form = Form::new(format!("{path}/settings"), "Save").of(&bucket.spec);
    Edit::new(in_bucket(frame, bucket), form)
        .removed_by(remove.unless_empty("also with the inputs and outputs that it has"))
}

pub(crate) async fn show(On(session, bucket): On<Bucket>) -> Reply {
    Ok(editing(&session, &bucket).show())
}

pub(crate) async fn save(On(session, bucket): On<Bucket>, submitted: Submitted) -> Reply {
    let page = editing(&session, &bucket);
    let then = async |spec| {
        let spec = without_empty_retention(spec);
        session.admin().update_bucket(&session.caller, bucket.id, spec).await?;
        Ok(done(&format!("/buckets/{}", bucket.id), "saved"))
    };
    page.submit(bucket.spec.clone(), &submitted, then).await
}

pub(crate) async fn delete(On(session, bucket): On<Bucket>, submitted: Submitted) -> Reply {
    let force = submitted.has("force");
    match session.admin().delete_bucket(&session.caller, bucket.id, force).await {
        Ok(_) => Ok(done("/buckets", "deleted")),
        Err(error) => editing(&session, &bucket).refuse_with(error),
    }
}
