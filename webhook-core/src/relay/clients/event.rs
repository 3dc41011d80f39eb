//! A webhook as a connected client gets it.

use std::sync::Arc;

use crate::{
    id::{BucketId, DeliveryId, InputId, OutputId},
    model::{Bucket, OutputSpec, Request, Webhook},
    relay::{headers, outgoing},
};

/// A webhook for a connected client (`docs/pulling.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamedWebhook {
    /// The log's ID, under which a client reports what it did.
    pub id: DeliveryId,
    /// The bucket.
    pub bucket_id: BucketId,
    /// The bucket's name.
    pub bucket_name: String,
    /// The input that received it.
    pub input_id: InputId,
    /// The input's name; empty when the input is gone.
    pub input_name: String,
    /// The internal output's name; empty for a bucket without outputs.
    pub output_name: String,
    /// The internal output's destination with the extra path, without the
    /// webhook's query; empty for a bucket without outputs.
    pub output_destination: String,
    /// What to deliver. With an output its headers are those of a delivery; without
    /// outputs they are the sender's.
    pub request: Request,
}

impl StreamedWebhook {
    /// What clients get of a delivery; none when they get nothing, because the
    /// bucket does not stream or the output is no longer theirs.
    pub(super) fn new(
        bucket: &Bucket,
        webhook: &Webhook,
        id: DeliveryId,
        output: Option<OutputId>,
        processed: Option<&Request>,
    ) -> Option<Self> {
        if !bucket.spec.stream {
            return None;
        }
        let mut request = processed.unwrap_or(&webhook.request).clone();
        let (output_name, output_destination) = match output {
            Some(output) => {
                let spec = &bucket.output(output).filter(|output| output.spec.internal)?.spec;
                // A client delivers as the relay would have.
                let own = &spec.headers.0;
                request.headers = headers::forwarded(&request.headers, webhook, own, id);
                (spec.name.clone(), destination(spec, &request))
            }
            None => Default::default(),
        };
        let input_name = bucket.input(webhook.input_id).map(|input| input.spec.name.clone());
        Some(Self {
            id,
            bucket_id: bucket.id,
            bucket_name: bucket.spec.name.clone(),
            input_id: webhook.input_id,
            input_name: input_name.unwrap_or_default(),
            output_name,
            output_destination,
            request,
        })
    }

    pub(super) fn shared(self) -> Arc<Self> {
        Arc::new(self)
    }
}

/// What a connected client is told to deliver to: the URL of a delivery without the
/// webhook's query, which it gets by itself.
fn destination(spec: &OutputSpec, request: &Request) -> String {
    let without_query = Request { raw_query: String::new(), ..request.clone() };
    outgoing::join(&spec.destination, spec.lock_path, &without_query)
}
