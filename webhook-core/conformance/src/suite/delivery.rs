//! The suites of webhooks, deliveries and logs.

/// Tests a [`ReplayStore`](webhook_core::store::ReplayStore); see [`conformance`](crate).
#[macro_export]
macro_rules! replay_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::replay {
                every_field_of_a_replay_round_trips,
                replays_of_one_output_exclude_each_other,
                a_replay_is_held_by_one_node,
                a_step_of_a_replay_is_taken_once,
                a_replay_receives_webhooks_again,
                cancelling_a_replay_withdraws_what_waits,
                a_search_looks_at_the_oldest_first,
            }
        }
    };
}

/// Tests an [`ErasureStore`](webhook_core::store::ErasureStore); see [`conformance`](crate).
#[macro_export]
macro_rules! erasure_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::erasure {
                every_field_of_an_erasure_round_trips,
                open_erasures_of_an_account_are_bounded,
                erasures_that_are_over_have_a_bound,
                an_erasure_is_held_by_one_node,
                a_step_of_an_erasure_is_taken_once,
                concurrent_steps_of_an_erasure_are_taken_once,
            }
        }
    };
}

/// Tests a [`QueueStore`](webhook_core::store::QueueStore); see [`conformance`](crate).
#[macro_export]
macro_rules! queue_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::queue {
                a_queue_has_one_owner,
                a_queue_passes_on_when_its_owner_leaves,
                a_queue_passes_on_with_the_lease_of_its_owner,
                owners_say_what_they_have_started,
                who_is_not_the_owner_changes_nothing,
                owners_and_others_know_what_waits,
                concurrent_nodes_get_one_owner,
            }
        }
    };
}

/// Tests a [`DeliveryStore`](webhook_core::store::DeliveryStore); see [`conformance`](crate).
#[macro_export]
macro_rules! delivery_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::delivery::accept {
                every_field_of_a_webhook_round_trips,
                any_sender_address_round_trips,
                empty_request_round_trips,
                body_of_one_megabyte_round_trips,
                new_deliveries_round_trip,
                reason_of_a_stopped_delivery_is_kept,
                logs_of_a_webhook_are_in_id_order,
                absent_log_is_none,
                logs_of_another_account_are_absent,
                accepting_a_webhook_again_changes_nothing,
                accepting_a_settled_webhook_again_changes_nothing,
                accepting_a_delivery_id_again_stores_nothing,
                concurrent_accepts_of_one_webhook_store_it_once,
                concurrent_accepts_of_many_webhooks_store_all,
            }
            $crate::delivery::claim {
                claimed_delivery_is_complete,
                claimed_delivery_is_preparing,
                claim_takes_what_is_due,
                claim_takes_the_longest_due_first,
                claim_takes_at_most_its_limit,
                claim_takes_any_limit,
                claim_in_receipt_order_takes_undue_ones,
                claim_is_of_one_output,
                claim_takes_only_pending_ones,
                claim_of_an_unknown_output_is_empty,
                next_due_at_is_of_the_first_left,
                next_due_at_leaves_out_what_is_held,
                two_claims_never_share,
                concurrent_claimers_never_share,
                concurrent_claimers_in_receipt_order_never_share,
                concurrent_accepts_and_claims_lose_nothing,
                lanes_are_the_outputs_with_free_deliveries,
                lanes_leave_out_what_is_held,
            }
            $crate::delivery::settle {
                settle_keeps_every_field,
                settle_keeps_numbers_at_their_limits,
                retried_delivery_is_claimed_again_when_due,
                settled_delivery_is_held_no_longer,
                final_delivery_is_never_claimed_again,
                later_attempt_keeps_the_processed_request,
                later_outcome_keeps_the_attempts,
                later_attempt_replaces_the_processed_request,
                settle_twice_is_a_conflict,
                settle_of_what_is_not_pending_is_a_conflict,
                settle_while_another_node_holds_is_a_conflict,
                settle_after_own_lease_lapsed_succeeds,
                settle_after_the_other_lease_lapsed_succeeds,
                concurrent_settles_succeed_once,
                settle_and_takeover_exclude_each_other,
            }
            $crate::delivery::redeliver {
                redelivered_webhook_has_another_log,
                redelivered_webhook_is_attempted,
                redelivery_of_a_missing_webhook_is_not_found,
                redelivery_is_known_by_its_id,
                redeliveries_are_added_all_or_none,
                redelivery_of_an_erased_webhook_is_a_conflict,
                concurrent_redeliveries_of_one_id_store_one,
                concurrent_redelivery_and_outcome_keep_content_or_refuse,
                received_without_a_time_is_left_to_clients,
                ephemeral_content_outlasts_the_handing_over,
                final_status_leaves_no_time,
            }
            $crate::delivery::lease {
                delivery_is_held_from_accept,
                lease_ends_at_its_moment,
                lapsed_delivery_passes_to_another_node,
                extended_lease_holds_longer,
                lease_covers_what_was_claimed_before,
                leases_of_nodes_are_independent,
                lanes_count_what_a_lapsed_node_held,
                sweep_tells_where_another_node_is_at_work,
                sweep_counts_what_the_node_holds_for_long,
                clock_of_the_store_goes_on,
                lease_of_another_incarnation_is_left,
                node_without_a_lease_holds_nothing,
                release_frees_everything_of_a_node,
                release_leaves_other_nodes_alone,
                release_of_an_output_leaves_others_held,
                released_node_holds_again_what_it_claims,
                release_of_an_unknown_node_succeeds,
                concurrent_takeovers_never_share,
            }
            $crate::delivery::ephemeral {
                ephemeral_content_is_forgotten_after_the_outcome,
                ephemeral_content_is_kept_for_a_retry,
                ephemeral_processed_content_is_forgotten,
                ephemeral_content_stays_until_the_last_outcome,
                ephemeral_content_is_forgotten_beside_a_rejected_delivery,
                ephemeral_webhook_that_is_final_at_once_has_no_content,
                ephemeral_content_waits_for_clients,
                concurrent_last_outcomes_forget_ephemeral_content,
                content_of_other_webhooks_stays,
            }
        }
    };
}

/// Tests a [`LogStore`](webhook_core::store::LogStore); see [`conformance`](crate).
#[macro_export]
macro_rules! log_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::log::page {
                no_logs_are_an_empty_page,
                listed_logs_are_complete,
                heads_say_of_logs_what_is_short,
                logs_are_listed_newest_first,
                pages_take_any_limit_and_offset,
                cursors_are_stable_while_logs_arrive,
                cursor_outlives_its_log,
                lists_are_of_one_account,
                filters_are_exact,
                preparing_is_listed_as_received,
                large_logs_are_all_listed,
                totals_are_exact_after_concurrent_changes,
            }
            $crate::log::search {
                every_webhook_is_found_by_any_part_of_it,
                filters_of_a_search_are_exact,
                a_class_of_status_codes_finds_every_log_by_its_last_answer,
                search_asks_why_a_log_ended_and_whether_it_is_verified,
                bounded_search_goes_on_where_it_stopped,
                search_is_of_what_was_asked_for,
            }
            $crate::log::count {
                counts_are_exact_after_every_change,
                what_changes_nothing_is_not_counted,
                counts_take_the_greatest_numbers,
                counts_are_of_one_account,
                received_webhooks_are_counted_by_month,
            }
            $crate::delivery::redeliver {
                redelivered_log_counts_when_it_was_added,
            }
            $crate::delivery::seen {
                duplicate_is_not_delivered,
                keys_are_an_inputs_own,
                window_ends_exactly,
                logs_of_duplicates_are_bounded,
                concurrent_twins_are_stored_once,
                twin_of_a_webhook_that_fails_is_stored,
                webhook_stored_again_is_known,
                forget_seen_removes_what_has_ended,
            }
            $crate::log::drain {
                drain_takes_the_oldest_once,
                drained_logs_are_sent,
                drain_takes_only_what_waits,
                drain_is_of_what_was_asked_for,
                drain_begins_where_it_is_told,
                drain_takes_any_limit,
                drain_is_of_one_account,
                drained_ephemeral_content_is_seen_once,
                drained_log_has_what_the_function_made,
                concurrent_drains_never_share,
                concurrent_drains_and_accepts_lose_nothing,
            }
            $crate::log::lease {
                leased_log_comes_again_when_its_lease_is_over,
                leased_logs_are_passed_over,
                report_settles_a_lease,
                lease_is_given_back_or_prolonged,
                leases_of_an_account_are_bounded,
                leased_ephemeral_content_stays_until_the_report,
                leased_logs_are_purged,
                concurrent_leases_never_share,
            }
            $crate::log::waiting {
                waiting_logs_come_oldest_first,
                waiting_logs_are_paged,
                waiting_logs_are_those_of_agents,
                waiting_logs_are_of_what_was_asked_for,
            }
            $crate::log::report {
                report_keeps_every_field,
                preparing_is_kept_as_received,
                second_final_report_is_ignored,
                stalled_log_can_be_reported_again,
                report_leaves_relays_alone,
                report_on_a_missing_log_is_not_found,
                report_erases_ephemeral_content,
                first_outcome_after_a_drain_counts,
                drained_log_is_not_handed_out_again,
                report_after_a_drain_brings_no_content_back,
                concurrent_reports_take_one,
                concurrent_report_and_drain_keep_the_report,
                concurrent_report_and_settle_exclude_each_other,
            }
            $crate::log::purge {
                purge_removes_what_no_relay_attempts,
                purge_takes_the_oldest_days_first,
                purge_of_an_account_leaves_the_others,
                purge_of_a_bucket_tells_failed_logs_apart,
                webhook_goes_with_its_last_log,
                concurrent_purges_and_accepts_disturb_nothing,
                concurrent_purges_count_each_log_once,
                concurrent_purge_and_redeliver_exclude_each_other,
            }
            $crate::log::erase {
                erased_webhook_is_gone_whole,
                webhook_of_another_account_is_not_erased,
                webhook_in_flight_is_not_erased,
                erased_webhooks_count_in_statistics,
                erased_webhooks_are_counted_until_their_minute_is_purged,
                twin_of_an_erased_webhook_is_a_duplicate,
                concurrent_erasures_and_redeliveries_exclude_each_other,
                concurrent_erasures_and_outcomes_exclude_each_other,
            }
        }
    };
}

/// Tests what deleting buckets and outputs does to deliveries; see [`conformance`](crate).
#[macro_export]
macro_rules! deletion_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::deletion {
                deliveries_of_a_deleted_output_are_not_claimed,
                logs_of_a_deleted_output_stay,
                deleting_an_output_leaves_others_alone,
                refused_deletion_of_an_output_leaves_its_deliveries,
                delivery_in_flight_at_deletion_is_not_tried_again,
                deliveries_of_a_deleted_bucket_are_not_claimed,
                logs_of_a_deleted_bucket_stay,
                refused_deletion_of_a_bucket_leaves_its_deliveries,
                deliveries_stay_claimable_when_a_bucket_changes,
                what_waits_for_clients_ends_with_its_output,
            }
        }
    };
}
