//! The list of cases of each suite, and the macros that make tests of them.

/// One `#[tokio::test]` per case: what the suite macros expand to.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ($make:expr; $($module:path { $($case:ident),+ $(,)? })+) => {
        $($crate::conformance_tests!(@module $make; $module; $($case),+);)+
    };
    (@module $make:expr; $module:path; $($case:ident),+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                use $module as cases;
                $crate::conformance::run(($make)(), cases::$case).await;
            }
        )+
    };
}

/// Tests an [`AccountStore`](crate::store::AccountStore); see [`conformance`](crate::conformance).
#[macro_export]
macro_rules! account_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::conformance::account {
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
                concurrent_puts_of_one_key_store_one,
            }
        }
    };
}

/// Tests a [`BucketStore`](crate::store::BucketStore); see [`conformance`](crate::conformance).
#[macro_export]
macro_rules! bucket_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::conformance::bucket::create {
                created_bucket_is_read_back,
                every_field_of_a_bucket_round_trips,
                bucket_comes_with_inputs_and_outputs_in_id_order,
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
            }
            $crate::conformance::bucket::change {
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

/// Tests an [`InputStore`](crate::store::InputStore); see [`conformance`](crate::conformance).
#[macro_export]
macro_rules! input_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::conformance::input {
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

/// Tests an [`OutputStore`](crate::store::OutputStore); see [`conformance`](crate::conformance).
#[macro_export]
macro_rules! output_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::conformance::output {
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
        }
    };
}

/// Tests a [`FunctionStore`](crate::store::FunctionStore); see [`conformance`](crate::conformance).
#[macro_export]
macro_rules! function_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::conformance::function {
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
            }
            $crate::conformance::execution {
                every_field_of_an_execution_round_trips,
                record_execution_keeps_the_newest,
                record_execution_can_keep_none,
                executions_of_functions_are_kept_apart,
                executions_are_paged_newest_first,
                execution_pages_take_any_limit_and_offset,
                executions_of_another_account_are_absent,
                concurrent_executions_end_within_the_limit,
            }
        }
    };
}

/// Tests a [`DeliveryStore`](crate::store::DeliveryStore); see [`conformance`](crate::conformance).
#[macro_export]
macro_rules! delivery_store_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::conformance::delivery::accept {
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
                concurrent_accepts_of_one_webhook_store_it_once,
                concurrent_accepts_of_many_webhooks_store_all,
            }
            $crate::conformance::delivery::claim {
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
            $crate::conformance::delivery::settle {
                settle_keeps_every_field,
                settle_keeps_numbers_at_their_limits,
                retried_delivery_is_claimed_again_when_due,
                settled_delivery_is_held_no_longer,
                final_delivery_is_never_claimed_again,
                later_attempt_keeps_the_processed_request,
                later_attempt_replaces_the_processed_request,
                settle_twice_is_a_conflict,
                settle_of_what_is_not_pending_is_a_conflict,
                settle_while_another_node_holds_is_a_conflict,
                settle_after_own_lease_lapsed_succeeds,
                settle_after_the_other_lease_lapsed_succeeds,
                concurrent_settles_succeed_once,
                settle_and_takeover_exclude_each_other,
            }
            $crate::conformance::delivery::lease {
                delivery_is_held_from_accept,
                lease_ends_at_its_moment,
                lapsed_delivery_passes_to_another_node,
                extended_lease_holds_longer,
                lease_covers_what_was_claimed_before,
                leases_of_nodes_are_independent,
                lanes_count_what_a_lapsed_node_held,
                node_without_a_lease_holds_nothing,
                release_frees_everything_of_a_node,
                release_leaves_other_nodes_alone,
                released_node_holds_again_what_it_claims,
                release_of_an_unknown_node_succeeds,
                concurrent_takeovers_never_share,
            }
            $crate::conformance::delivery::ephemeral {
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

/// Tests what deleting buckets and outputs does to deliveries; see [`conformance`](crate::conformance).
#[macro_export]
macro_rules! deletion_conformance {
    ($make:expr) => {
        $crate::conformance_tests! { $make;
            $crate::conformance::deletion {
                deliveries_of_a_deleted_output_are_not_claimed,
                logs_of_a_deleted_output_stay,
                deleting_an_output_leaves_others_alone,
                refused_deletion_of_an_output_leaves_its_deliveries,
                delivery_in_flight_at_deletion_is_not_tried_again,
                deliveries_of_a_deleted_bucket_are_not_claimed,
                logs_of_a_deleted_bucket_stay,
                refused_deletion_of_a_bucket_leaves_its_deliveries,
                deliveries_stay_claimable_when_a_bucket_changes,
            }
        }
    };
}
