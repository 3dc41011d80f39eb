//! The suites of what accounts set up.

/// Tests an [`AccountStore`](webhook_core::store::AccountStore); see [`conformance`](crate).
#[macro_export]
macro_rules! account_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::account {
                created_account_is_read_back,
                absent_account_is_none,
                taken_account_id_is_a_conflict,
                taken_account_name_is_a_conflict,
                concurrent_accounts_with_one_name_store_one,
                accounts_are_listed_in_id_order,
                new_account_has_no_key,
                key_is_found_by_account_and_by_text,
                disabled_key_is_still_found,
                key_is_looked_up_exactly,
                put_api_key_replaces_the_former,
                key_of_another_account_is_a_conflict,
                key_for_a_missing_account_is_not_found,
                key_is_put_in_place_of_the_one_that_was_read,
                concurrent_puts_in_place_of_one_key_let_one_through,
                concurrent_puts_of_one_key_store_one,
            }
        }
    };
}

/// Tests a [`DocumentStore`](webhook_core::store::DocumentStore) in what all kinds have in common;
/// see [`conformance`](crate).
#[macro_export]
macro_rules! document_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::documents::arbitrary {
                arbitrary_specifications_are_read_back,
            }
            $crate::documents::writers {
                two_writers_of_one_document_lose_nothing,
            }
            $crate::documents::together {
                changes_happen_together_or_not_at_all,
                changes_follow_each_other,
            }
            $crate::documents::uses {
                a_used_document_stays,
                each_use_of_a_function_counts,
                only_what_the_account_has_is_used,
            }
            $crate::documents::bounds {
                counts_hold_bounds_exactly,
                bounds_hold_over_buckets_at_once,
                other_kinds_are_bounded_by_account,
            }
            $crate::documents::state {
                pauses_by_two_do_not_overwrite_each_other,
                a_pause_and_an_update_are_both_kept,
                the_first_failure_is_known,
            }
            $crate::documents::versions {
                the_last_versions_are_kept,
                removal_of_another_version_is_refused,
            }
            $crate::documents::names {
                names_are_unique_where_they_have_to_be,
                documents_are_found_by_name,
            }
            $crate::documents::pages {
                a_page_is_a_part_of_the_list,
                these_buckets_are_whole,
            }
        }
    };
}

/// Tests a [`BucketStore`](webhook_core::store::BucketStore); see [`conformance`](crate).
#[macro_export]
macro_rules! bucket_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::bucket::create {
                created_bucket_is_read_back,
                every_field_of_a_bucket_round_trips,
                bucket_comes_with_inputs_by_age_and_outputs_in_id_order,
                auth_is_stamped_by_the_store,
                absent_bucket_is_none,
                update_or_delete_of_no_bucket_is_not_found,
                taken_bucket_id_is_a_conflict,
                taken_bucket_name_is_a_conflict,
                bucket_names_are_compared_exactly,
                refused_bucket_leaves_nothing_behind,
                concurrent_buckets_with_one_name_store_one,
                concurrent_buckets_with_one_id_store_one,
                buckets_of_another_account_are_absent,
                buckets_are_listed_in_id_order,
                buckets_are_counted_with_what_is_in_them,
                retentions_are_listed_in_id_order,
            }
            $crate::bucket::change {
                update_bucket_replaces_all_but_inputs_and_outputs,
                update_to_a_taken_bucket_name_is_a_conflict,
                renamed_bucket_frees_its_name,
                concurrent_renames_to_one_name_let_one_through,
                delete_bucket_removes_it_and_frees_its_name,
                bucket_with_an_output_is_deleted_by_force_only,
                bucket_with_an_input_is_deleted_by_force_only,
                spare_input_does_not_keep_a_bucket,
                concurrent_deletes_of_a_bucket_succeed_once,
            }
        }
    };
}

/// Tests an [`InputStore`](webhook_core::store::InputStore); see [`conformance`](crate).
#[macro_export]
macro_rules! input_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::input {
                created_input_is_read_back,
                every_field_of_an_input_round_trips,
                input_for_a_bucket_the_account_lacks_is_not_found,
                taken_input_id_is_a_conflict,
                inputs_of_another_account_or_bucket_are_absent,
                bucket_of_input_is_the_whole_bucket,
                bucket_of_input_follows_changes,
                update_replaces_an_input,
                update_or_delete_of_no_input_is_not_found,
                deleted_input_is_gone,
                inputs_go_with_their_bucket,
                concurrent_inputs_are_all_kept,
            }
        }
    };
}

/// Tests an [`OutputStore`](webhook_core::store::OutputStore); see [`conformance`](crate).
#[macro_export]
macro_rules! output_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::output {
                created_output_is_read_back,
                every_field_of_an_output_round_trips,
                numbers_of_an_output_round_trip_at_their_limits,
                output_for_a_bucket_the_account_lacks_is_not_found,
                taken_output_id_is_a_conflict,
                taken_output_name_is_a_conflict,
                unnamed_outputs_do_not_clash,
                outputs_of_another_account_or_bucket_are_absent,
                bucket_of_output_is_the_whole_bucket,
                update_replaces_an_output,
                update_to_a_taken_output_name_is_a_conflict,
                update_or_delete_of_no_output_is_not_found,
                deleted_output_is_gone_and_its_name_free,
                outputs_go_with_their_bucket,
                concurrent_outputs_with_one_name_store_one,
            }
            $crate::versions {
                rules_are_known_as_they_were,
                versions_of_rules_are_bounded,
            }
        }
    };
}

/// Tests a [`FunctionStore`](webhook_core::store::FunctionStore); see [`conformance`](crate).
#[macro_export]
macro_rules! function_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::function {
                created_function_is_read_back,
                every_field_of_a_function_round_trips,
                taken_function_id_is_a_conflict,
                functions_are_listed_in_id_order,
                functions_of_another_account_are_absent,
                update_replaces_a_function,
                update_or_delete_of_no_function_is_not_found,
                delete_function_removes_variables_and_runs,
                variables_are_listed_in_key_order,
                put_variable_replaces_and_keeps_its_creation,
                variable_for_a_missing_function_is_not_found,
                delete_of_no_variable_is_not_found,
                concurrent_puts_of_a_variable_store_one,
                concurrent_variables_hold_their_bound,
            }
            $crate::versions {
                versions_of_a_function_are_kept,
                versions_of_a_function_are_bounded,
                versions_of_others_are_absent,
                concurrent_changes_of_a_function_are_all_versions,
            }
            $crate::execution {
                every_field_of_an_execution_round_trips,
                record_execution_keeps_the_newest,
                record_execution_can_keep_none,
                purge_executions_removes_the_oldest_first,
                executions_of_functions_are_kept_apart,
                executions_are_paged_newest_first,
                execution_pages_take_any_limit_and_offset,
                executions_of_another_account_are_absent,
                concurrent_executions_end_within_the_limit,
            }
            $crate::runs {
                runs_come_with_their_webhook_or_not_at_all,
                runs_come_with_their_outcome_or_not_at_all,
                runs_that_cannot_be_kept_are_passed_over,
                runs_with_webhooks_keep_the_newest,
                runs_stay_when_ephemeral_content_goes,
                runs_go_with_an_erased_webhook,
                concurrent_webhooks_with_runs_are_all_stored,
            }
            $crate::kv {
                kv_values_are_read_as_they_were_set,
                kv_numbers_count,
                kv_keys_expire,
                kv_keys_are_bounded,
                kv_keys_of_others_are_absent,
                kv_keys_go_with_their_function,
                concurrent_counts_all_count,
                purge_kv_removes_what_has_expired,
            }
        }
    };
}

/// Tests a [`TokenStore`](webhook_core::store::TokenStore); see [`conformance`](crate).
#[macro_export]
macro_rules! token_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::token {
                every_field_of_a_token_round_trips,
                tokens_are_listed_in_id_order,
                tokens_are_counted,
                concurrent_tokens_hold_their_bound,
                logins_of_a_token_are_noted,
                taken_token_id_is_a_conflict,
                update_keeps_the_secret_of_a_token,
                update_or_delete_of_no_token_is_not_found,
                deleted_token_is_gone,
                concurrent_tokens_with_one_id_store_one,
            }
        }
    };
}

/// Tests the domains of a [`DocumentStore`](webhook_core::store::DocumentStore); see
/// [`conformance`](crate).
#[macro_export]
macro_rules! domain_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::domain {
                created_domain_is_read_back,
                absent_domain_is_none,
                domains_are_listed_in_id_order,
                taken_domain_is_a_conflict,
                concurrent_reservations_of_one_name_store_one,
                deleted_domain_is_gone_and_its_name_free,
                delete_of_no_domain_is_not_found,
                domain_in_use_is_not_deleted,
                inputs_of_a_domain_are_found,
            }
        }
    };
}

/// Tests a [`CronStore`](webhook_core::store::CronStore); see [`conformance`](crate).
#[macro_export]
macro_rules! cron_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::cron {
                every_field_of_a_cron_round_trips,
                bucket_of_a_cron_is_stored_with_it,
                crons_of_another_account_are_absent,
                refused_cron_leaves_nothing_behind,
                update_replaces_a_cron,
                update_that_missed_a_run_changes_nothing,
                deleted_cron_takes_its_bucket_along,
                cron_goes_with_its_bucket,
                claim_takes_due_crons,
                hold_of_a_cron_ends,
                released_crons_are_due_at_once,
                cron_advances_from_its_run,
                update_keeps_a_hold_for_the_same_run,
                concurrent_claims_of_crons_never_share,
                concurrent_advances_of_a_cron_succeed_once,
                concurrent_update_and_advance_exclude_each_other,
                concurrent_crons_with_one_bucket_name_store_one,
            }
        }
    };
}

/// Tests a [`SessionStore`](webhook_core::store::SessionStore); see [`conformance`](crate).
#[macro_export]
macro_rules! session_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::session {
                every_field_of_a_session_round_trips,
                a_session_that_ended_is_absent,
                the_time_of_the_last_page_is_noted,
                sessions_that_ended_go_when_one_begins,
                an_account_has_so_many_sessions_at_most,
            }
        }
    };
}

/// Tests a [`NotificationStore`](webhook_core::store::NotificationStore); see
/// [`conformance`](crate).
#[macro_export]
macro_rules! notification_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::notification {
                every_field_of_a_notification_round_trips,
                notifications_of_another_account_are_absent,
                update_replaces_what_a_caller_may_write,
                update_or_delete_of_no_notification_is_not_found,
                taken_notification_id_is_a_conflict,
                notification_goes_with_its_bucket,
                disabled_notifications_are_left_out,
                moment_is_noted_once,
                what_is_noted_before_it_is_told_is_counted,
                what_follows_waits_for_the_interval,
                what_is_noted_meanwhile_is_told_later,
                notice_without_a_due_moment_is_known_only,
                note_of_no_notification_is_not_found,
                notices_go_with_their_bucket_and_are_forgotten,
                concurrent_notes_of_one_moment_count_once,
                concurrent_nodes_tell_once,
            }
        }
    };
}

/// Tests a [`BillingStore`](webhook_core::store::BillingStore); see [`conformance`](crate).
#[macro_export]
macro_rules! billing_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::billing {
                every_field_of_billing_round_trips,
                parts_of_billing_are_put_one_by_one,
                customer_of_another_account_is_a_conflict,
                account_is_found_by_its_customer,
                subscription_that_was_read_earlier_is_ignored,
                concurrent_reads_of_a_subscription_keep_the_last,
                applied_events_are_remembered_for_a_while,
            }
        }
    };
}
