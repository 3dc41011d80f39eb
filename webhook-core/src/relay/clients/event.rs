//! A webhook as a connected client gets it.

use webhook_cluster::StreamedWebhook;

use crate::{
    id::{DeliveryId, OutputId},
    model::{Bucket, OutputSpec, Request, Webhook},
    relay::{headers, outgoing},
};

/// What clients get of a delivery; none when they get nothing, because the
/// bucket does not stream or the output is no longer theirs.
pub(super) fn streamed(
    bucket: &Bucket,
    webhook: &Webhook,
    id: DeliveryId,
    output: Option<OutputId>,
    processed: Option<&Request>,
) -> Option<StreamedWebhook> {
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
    Some(StreamedWebhook {
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

/// What a connected client is told to deliver to: the URL of a delivery without the
/// webhook's query, which it gets by itself.
fn destination(spec: &OutputSpec, request: &Request) -> String {
    let without_query = Request { raw_query: String::new(), ..request.clone() };
    outgoing::join(&spec.destination, spec.lock_path, &without_query)
}
