//! The inputs and outputs of a bucket: how one is found, made, changed and deleted.

use axum::{
    Router,
    extract::{FromRequestParts, Path},
    http::request::Parts,
    response::Response,
    routing::{get, post},
};
use webhook_core::{
    Error,
    model::{Bucket, Described, Function},
};

use super::{
    Named, On, done,
    edit::{Edit, Remove},
    functions,
};
use crate::{
    Dashboard, PATH,
    form::{Form, Submitted},
    page::{Frame, PartLink, Problem, Reply},
    session::Session,
};

/// An input or an output.
pub(super) trait OfBucket: Clone + Send + Sync + 'static {
    type Spec: Described + Default + Clone + Send + Sync;
    /// What it is called in a sentence, and in front of its name.
    const WORD: &'static str;
    const TITLE: &'static str;
    const DELETE: &'static str;
    /// The consequence of the deletion.
    const WARNING: &'static str;

    fn all(bucket: &Bucket) -> &[Self];
    fn id(&self) -> String;
    fn name(&self) -> &str;
    fn spec(&self) -> &Self::Spec;
    /// How the form of a new one is filled in.
    fn suggested() -> Self::Spec {
        Self::Spec::default()
    }

    /// What the page knows more of its fields than their declarations.
    fn form(form: Form, bucket: &Bucket, functions: &[Function]) -> Form;
    /// The pages below its own, as this one links to them.
    fn parts(&self) -> Vec<PartLink>;
    /// What its page begins with.
    fn lead(at: &At<Self>) -> impl Future<Output = Result<String, Error>> + Send;
    fn create(
        session: &Session,
        bucket: &Bucket,
        spec: Self::Spec,
    ) -> impl Future<Output = Result<Self, Error>> + Send;
    fn update(at: &At<Self>, spec: Self::Spec) -> impl Future<Output = Result<Self, Error>> + Send;
    fn delete(at: &At<Self>) -> impl Future<Output = Result<(), Error>> + Send;
}

/// What the address of a page names, and who looks at it.
pub(super) struct At<T> {
    pub(super) session: Session,
    pub(super) bucket: Bucket,
    pub(super) it: T,
}

impl<T: OfBucket> FromRequestParts<Dashboard> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Dashboard) -> Result<Self, Problem> {
        let session = Session::from_request_parts(parts, state).await?;
        let ids = Path::from_request_parts(parts, state).await;
        let Path((id, it)): Path<(String, String)> = ids.map_err(|_| Problem::no("page"))?;
        let bucket = Bucket::find(&session, &id).await?;
        let found = T::all(&bucket).iter().find(|known| known.id() == it).cloned();
        let it = found.ok_or_else(|| Problem::no(T::WORD))?;
        Ok(Self { session, bucket, it })
    }
}

impl<T: OfBucket> At<T> {
    /// Where its page is, below the dashboard's.
    pub(super) fn place(&self) -> String {
        format!("/buckets/{}/{}s/{}", self.bucket.id, T::WORD, self.it.id())
    }

    pub(super) fn path(&self) -> String {
        format!("{PATH}{}", self.place())
    }

    /// What it is called on pages.
    fn title(&self) -> String {
        format!("{} {}", T::TITLE, self.it.name())
    }

    /// The frame of the page of a part of it.
    pub(super) fn frame(&self, title: impl Into<String>) -> Frame {
        let frame = Frame::new(&self.session, "Buckets", title);
        in_bucket(frame, &self.bucket).below(self.title(), &self.place())
    }

    /// To the page of its bucket, after something was done.
    pub(super) fn done(&self, what: &str) -> Response {
        done(&format!("/buckets/{}", self.bucket.id), what)
    }

    async fn editing(&self) -> Result<Edit, Problem> {
        let frame = Frame::new(&self.session, "Buckets", self.title());
        let mut frame = in_bucket(frame, &self.bucket);
        frame.parts = self.it.parts();
        for part in &mut frame.parts {
            part.path = format!("{}/{}", self.path(), part.path);
        }
        let functions = functions(&self.session).await?;
        let form = Form::new(self.path(), "Save").of(self.it.spec());
        let form = T::form(form, &self.bucket, &functions);
        let delete = format!("{}/delete", self.path());
        Ok(Edit::new(frame, form).lead(T::lead(self).await?).removed_by(Remove::new(
            T::DELETE,
            delete,
            T::WARNING,
        )))
    }
}

/// The frame of a page below that of a bucket.
pub(super) fn in_bucket(frame: Frame, bucket: &Bucket) -> Frame {
    let path = format!("/buckets/{}", bucket.id);
    frame.below("Buckets", "/buckets").below(bucket.spec.name.clone(), &path)
}

/// A link to a part, by the end of its address.
pub(super) fn link(name: &'static str, end: &str, state: impl Into<String>) -> PartLink {
    PartLink { name, path: end.to_owned(), state: state.into() }
}

/// The pages of one, and these below them.
pub(super) fn router<T: OfBucket>(parts: Router<Dashboard>) -> Router<Dashboard> {
    let all = format!("/buckets/{{bucket}}/{}s", T::WORD);
    Router::new()
        .route(&format!("{all}/new"), get(new::<T>).post(create::<T>))
        .route(&format!("{all}/{{it}}"), get(show::<T>).post(save::<T>))
        .route(&format!("{all}/{{it}}/delete"), post(delete::<T>))
        .nest(&format!("{all}/{{it}}"), parts)
}

fn creating<T: OfBucket>(session: &Session, bucket: &Bucket, functions: &[Function]) -> Edit {
    let action = format!("{PATH}/buckets/{}/{}s/new", bucket.id, T::WORD);
    let form = Form::new(action, "Create").of(&T::suggested());
    let form = T::form(form, bucket, functions);
    let frame = Frame::new(session, "Buckets", format!("New {}", T::WORD));
    Edit::new(in_bucket(frame, bucket), form)
}

async fn new<T: OfBucket>(On(session, bucket): On<Bucket>) -> Reply {
    Ok(creating::<T>(&session, &bucket, &functions(&session).await?).show())
}

async fn create<T: OfBucket>(On(session, bucket): On<Bucket>, submitted: Submitted) -> Reply {
    let page = creating::<T>(&session, &bucket, &functions(&session).await?);
    let create = async |spec| {
        T::create(&session, &bucket, spec).await?;
        Ok(done(&format!("/buckets/{}", bucket.id), "created"))
    };
    page.submit(T::Spec::default(), &submitted, create).await
}

async fn show<T: OfBucket>(at: At<T>) -> Reply {
    Ok(at.editing().await?.show())
}

async fn save<T: OfBucket>(at: At<T>, submitted: Submitted) -> Reply {
    let page = at.editing().await?;
    let save = async |spec| {
        T::update(&at, spec).await?;
        Ok(at.done("saved"))
    };
    page.submit(at.it.spec().clone(), &submitted, save).await
}

async fn delete<T: OfBucket>(at: At<T>) -> Reply {
    T::delete(&at).await?;
    Ok(at.done("deleted"))
}
