//! The end of a webhook that is delivered nowhere, or not to one of its outputs.

use std::borrow::Cow;

use crate::{
    id::DeliveryId,
    model::{DeliveryStatus, Output, Reason},
    store::NewDelivery,
};

/// Why nothing is delivered.
#[derive(Debug)]
pub(in crate::relay) struct End {
    status: DeliveryStatus,
    reason: Option<Reason>,
    pub(in crate::relay) detail: Cow<'static, str>,
}

impl End {
    /// The rules of an output have stopped the webhook.
    pub(super) const BY_RULES: Self =
        Self::rejected(Reason::Rules, Cow::Borrowed("stopped by the output's rules"));
    /// The function of an input has stopped the webhook.
    pub(super) const BY_FUNCTION: Self =
        Self::rejected(Reason::Function, Cow::Borrowed("stopped by the input function"));

    /// The webhook may not go further.
    pub(super) const fn rejected(reason: Reason, detail: Cow<'static, str>) -> Self {
        Self { status: DeliveryStatus::Rejected, reason: Some(reason), detail }
    }

    /// The relay cannot deliver the webhook.
    pub(super) fn failed(reason: Option<Reason>, detail: String) -> Self {
        Self { status: DeliveryStatus::Failed, reason, detail: detail.into() }
    }

    /// The delivery to an output that has ended so.
    pub(in crate::relay) fn delivery(&self, id: DeliveryId, to: Option<&Output>) -> NewDelivery {
        let Self { status, reason, ref detail } = *self;
        let detail = Some(detail.clone().into_owned());
        NewDelivery { status, reason, detail, ..new_delivery(id, to) }
    }
}

/// A delivery to `output`, or to clients, that has not ended.
pub(in crate::relay) fn new_delivery(id: DeliveryId, output: Option<&Output>) -> NewDelivery {
    let internal = output.is_some_and(|output| output.spec.internal);
    NewDelivery { internal, ..NewDelivery::new(id, output.map(|output| output.id), None) }
}
