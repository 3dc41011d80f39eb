//! A webhook as a connected client gets it.

use webhook_cluster::StreamedWebhook;

use crate::{
    forward::path,
    id::{DeliveryId, OutputId},
    model::{Bucket, Request, Webhook, hops},
    relay::headers,
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
            if spec.lock_path {
                request.extra_path.clear();
            }
            let destination = path::join(&spec.destination, &request.extra_path, "");
            (spec.name.clone(), destination)
        }
        None => {
            hops::write(webhook.checks.hops, &mut request.headers);
            Default::default()
        }
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
