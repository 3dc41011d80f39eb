//! The end of a webhook that is delivered nowhere, or not to one of its outputs.

use std::borrow::Cow;

use crate::{
    id::DeliveryId,
    model::{DeliveryStatus, Output, Reason},
    store::NewDelivery,
};

/// Why nothing is delivered.
#[derive(Debug)]
pub(super) struct End {
    status: DeliveryStatus,
    reason: Option<Reason>,
    pub(super) detail: Cow<'static, str>,
}

impl End {
    /// The rules of an output have stopped the webhook.
    pub(super) const BY_RULES: Self = Self {
        status: DeliveryStatus::Rejected,
        reason: Some(Reason::Rules),
        detail: Cow::Borrowed("stopped by the output's rules"),
    };
    /// The function of an input has stopped the webhook.
    pub(super) const BY_FUNCTION: Self = Self {
        status: DeliveryStatus::Rejected,
        reason: Some(Reason::Function),
        detail: Cow::Borrowed("stopped by the input function"),
    };

    /// The signature of the webhook was refused.
    pub(super) fn refused(detail: String) -> Self {
        let (status, reason) = (DeliveryStatus::Rejected, Some(Reason::Signature));
        Self { status, reason, detail: detail.into() }
    }

    /// The relay cannot deliver the webhook.
    pub(super) fn failed(reason: Option<Reason>, detail: String) -> Self {
        Self { status: DeliveryStatus::Failed, reason, detail: detail.into() }
    }

    /// The delivery to `output` that has ended so.
    pub(super) fn delivery(&self, id: DeliveryId, output: Option<&Output>) -> NewDelivery {
        let (reason, detail) = (self.reason, Some(self.detail.clone().into_owned()));
        NewDelivery { reason, detail, ..new_delivery(id, output, self.status) }
    }
}

pub(super) fn new_delivery(
    id: DeliveryId,
    output: Option<&Output>,
    status: DeliveryStatus,
) -> NewDelivery {
    let internal = output.is_some_and(|output| output.spec.internal);
    let new = NewDelivery::new(id, output.map(|output| output.id), None);
    NewDelivery { internal, status, ..new }
}
