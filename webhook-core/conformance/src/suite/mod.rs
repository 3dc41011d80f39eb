//! The list of cases of each suite, and the macros that make tests of them.

mod configuration;
mod delivery;

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
                $crate::run(($make)(), cases::$case).await;
            }
        )+
    };
}
