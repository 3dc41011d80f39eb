//! Outputs that hand over what was missed, and the inputs that wait for answers.

use super::*;
use crate::model::ReplayMissing;

fn replaying(internal: bool) -> OutputSpec {
    let replay_missing = ReplayMissing { enabled: true, ..ReplayMissing::default() };
    OutputSpec { internal, replay_missing, ..output_named("o") }
}

fn answering(response_from_output: ResponseFromOutput) -> InputSpec {
    InputSpec { response_from_output, ..InputSpec::default() }
}

fn refusal<T: fmt::Debug>(result: Result<T, Error>) -> String {
    let error = result.expect_err("it is refused");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    error.to_string()
}

#[tokio::test]
async fn only_internal_outputs_that_no_input_answers_from_replay() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let bucket = admin.create_bucket(&caller, bucket_named("b")).await?.id;
    let public = refusal(admin.create_output(&caller, bucket, replaying(false)).await);
    assert_eq!(public, "replay_missing: is for internal outputs only");
    let mut long = replaying(true);
    long.replay_missing.lookback = Duration::from_secs(31 * 24 * 60 * 60);
    let long = refusal(admin.create_output(&caller, bucket, long).await);
    assert!(long.starts_with("replay_missing.lookback: must be at most"), "{long}");

    let output = admin.create_output(&caller, bucket, replaying(true)).await?;
    let plain = OutputSpec { internal: true, ..output_named("plain") };
    let plain = admin.create_output(&caller, bucket, plain).await?;
    let said = |response| refusal_of_input(&admin, &caller, bucket, response);
    for response in [ResponseFromOutput::Output(output.id), ResponseFromOutput::Any] {
        assert!(said(response).await.starts_with("response_from_output: the output "));
    }
    let spec = answering(ResponseFromOutput::Output(plain.id));
    let input = admin.create_input(&caller, bucket, spec).await?;
    let spec = answering(ResponseFromOutput::Output(output.id));
    refusal(admin.update_input(&caller, bucket, input.id, spec).await);
    let update = admin.update_output(&caller, bucket, plain.id, replaying(true)).await;
    assert!(refusal(update).starts_with("replay_missing: the input "));

    // With the input out of the way it may.
    admin.update_input(&caller, bucket, input.id, InputSpec::default()).await?;
    let spec = OutputSpec { name: "other".to_owned(), ..replaying(true) };
    admin.update_output(&caller, bucket, plain.id, spec).await?;
    Ok(())
}

async fn refusal_of_input(
    admin: &Admin,
    caller: &Caller,
    bucket: BucketId,
    response: ResponseFromOutput,
) -> String {
    refusal(admin.create_input(caller, bucket, answering(response)).await)
}
