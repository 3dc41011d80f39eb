//! All operations, with their paths and handlers.

use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    account, billing, buckets, checkout, clients, config, crons, domains, erasures, events,
    functions, generate, inputs, logs, notifications, outputs, replays, runs, signature_providers,
    stripe_webhook, tokens, traces, usage, variables, versions,
};
use crate::state::AppState;

/// The management operations. The OpenAPI document is made of them.
pub(crate) fn operations() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(
            account::get_api_key,
            account::update_api_key_status,
            account::regenerate_api_key
        ))
        .routes(routes!(buckets::list_buckets, buckets::create_bucket))
        .routes(routes!(buckets::get_bucket, buckets::update_bucket, buckets::delete_bucket))
        .routes(routes!(inputs::create_input))
        .routes(routes!(inputs::get_input, inputs::update_input, inputs::delete_input))
        .routes(routes!(inputs::check_signature))
        .routes(routes!(signature_providers::list_signature_providers))
        .routes(routes!(outputs::create_output))
        .routes(routes!(outputs::get_output, outputs::update_output, outputs::delete_output))
        .routes(routes!(outputs::get_output_state))
        .routes(routes!(outputs::pause_output))
        .routes(routes!(outputs::resume_output))
        .routes(routes!(outputs::put_rules, outputs::delete_rules))
        .routes(routes!(logs::list_logs))
        .routes(routes!(logs::get_log, logs::report_log, logs::erase_log))
        .routes(routes!(erasures::create_erasure))
        .routes(routes!(erasures::get_erasure))
        .routes(routes!(logs::act_on_log))
        .routes(routes!(traces::get_trace))
        .routes(routes!(traces::explain_log))
        .routes(routes!(logs::get_bucket_log))
        .routes(routes!(logs::log_stats))
        .routes(routes!(logs::log_histogram))
        .routes(routes!(replays::list_replays, replays::create_replay))
        .routes(routes!(replays::get_replay, replays::update_replay))
        .routes(routes!(events::take_events))
        .routes(routes!(events::acknowledge_events))
        .routes(routes!(tokens::list_tokens, tokens::create_token))
        .routes(routes!(tokens::update_token, tokens::delete_token))
        .routes(routes!(functions::list_functions, functions::create_function))
        .routes(routes!(
            functions::get_function,
            functions::update_function,
            functions::delete_function
        ))
        .routes(routes!(versions::list_versions))
        .routes(routes!(versions::get_version))
        .routes(routes!(versions::restore_version))
        .routes(routes!(versions::duplicate_function))
        .routes(routes!(generate::generate_function))
        .routes(routes!(variables::list_variables, variables::put_variable))
        .routes(routes!(variables::delete_variable))
        .routes(routes!(runs::invoke_function))
        .routes(routes!(runs::try_function))
        .routes(routes!(runs::compare_function))
        .routes(routes!(runs::list_runs))
        .routes(routes!(runs::get_run_of_function))
        .routes(routes!(runs::get_run))
        .routes(routes!(crons::list_crons, crons::create_cron))
        .routes(routes!(crons::get_cron, crons::update_cron, crons::delete_cron))
        .routes(routes!(notifications::list_notifications, notifications::create_notification))
        .routes(routes!(
            notifications::get_notification,
            notifications::update_notification,
            notifications::delete_notification
        ))
        .routes(routes!(notifications::test_notification))
        .routes(routes!(clients::connected_clients))
        .routes(routes!(domains::list_domains, domains::create_domain))
        .routes(routes!(domains::delete_domain))
        .routes(routes!(config::get_config))
        .routes(routes!(billing::get_billing_details, billing::put_billing_details))
        .routes(routes!(checkout::start_checkout))
        .routes(routes!(checkout::start_checkout_setup))
        .routes(routes!(usage::get_usage))
}

/// The operations whose callers show no credentials of this server.
pub(crate) fn open_operations() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(stripe_webhook::take_stripe_event))
}
