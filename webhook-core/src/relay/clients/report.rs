//! What a connected client did with a webhook.

use http::StatusCode;

use super::publish::Clients;
use crate::{
    body::cut,
    error::Error,
    id::AccountId,
    relay::waiters::DestinationResponse,
    store::{ClientReport, Reported},
};

impl Clients {
    /// Writes the report and tells a sender that waits for it. A second final
    /// report is ignored.
    pub(in crate::relay) async fn report(
        &self,
        account: AccountId,
        report: ClientReport,
    ) -> Result<Reported, Error> {
        let (body, headers) = (report.response_body.clone(), report.response_headers.clone());
        let report = ClientReport {
            response_body: cut(&body, self.options.max_logged_response_bytes),
            ..report
        };
        let reported = self.logs.report(account, &report).await?;
        if reported.taken && report.is_outcome() {
            self.hub.done(report.id);
            self.observer.attempted(report.status, report.duration);
            let status = StatusCode::from_u16(report.status_code).ok();
            let response = status.map(|status| DestinationResponse { status, headers, body });
            self.waiters.resolve(report.id, response);
        }
        Ok(reported)
    }
}
