//! What a connected client did with a webhook.

use std::sync::Arc;

use http::StatusCode;

use super::{
    Inner,
    answers::{Answer, DestinationAnswer},
    attempt::cut,
};
use crate::{
    error::Error,
    id::AccountId,
    model::Log,
    store::{ClientReport, Reported},
};

impl Inner {
    /// Writes the report and tells a sender that waits for it. A second final
    /// report is ignored.
    pub(super) async fn report(
        self: &Arc<Self>,
        account: AccountId,
        report: ClientReport,
    ) -> Result<Log, Error> {
        let (body, headers) = (report.response_body.clone(), report.response_headers.clone());
        let report = ClientReport {
            response_body: cut(&body, self.options.max_logged_response_bytes),
            ..report
        };
        let Reported { log, taken } = self.stores.logs.report(account, &report).await?;
        if taken && report.is_outcome() {
            self.hub.done(report.id);
            self.observer.attempted(report.status, report.duration);
            let answer = StatusCode::from_u16(report.status_code).map_or(Answer::None, |status| {
                Answer::Response(DestinationAnswer { status, headers, body })
            });
            self.answers.resolve(report.id, answer);
        }
        Ok(log)
    }
}
