mod events;
mod requests;

use std::{sync::Arc, time::Duration};

use webhook_core::{Timestamp, TokioClock, forward::ScriptedForwarder, model::Secret};

use crate::{Stripe, StripeOptions};

/// Stripe as `forwarder` plays it.
fn stripe(forwarder: &ScriptedForwarder) -> Stripe {
    let options = StripeOptions {
        secret_key: Secret::new("sk_test_secret"),
        publishable_key: "pk_test_shown".to_owned(),
        webhook_secret: Some(Secret::new("whsec_right")),
        api_base: "https://stripe.test".to_owned(),
        success_url: "https://shop.test/thanks?a=b".to_owned(),
        cancel_url: "https://shop.test/".to_owned(),
        timeout: Duration::from_secs(15),
    };
    let clock = TokioClock::starting_at(Timestamp::from_secs(1_700_000_000));
    Stripe::new(options, Arc::new(forwarder.clone()), Arc::new(clock))
}
