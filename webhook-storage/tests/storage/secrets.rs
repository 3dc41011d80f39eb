//! Secrets are not to be found in the files.

use std::path::Path;

use webhook_core::{
    AccountId, BucketId, FunctionId, OutputId,
    model::{
        Account, ApiKey, AuthType, Bucket, BucketSpec, Function, FunctionSpec, Output, OutputSpec,
        Secret, Variable,
    },
    store::{AccountStore, BucketStore, DocumentStore, FunctionStore},
};

use crate::{
    databases::{Tested, open, sqlite},
    sample::NOW,
};

const KEY: &str = "sk-plain-api-key";
const PASSWORD: &str = "plain-password";
const TOKEN: &str = "plain-token";
const VALUE: &str = "plain-value-of-a-variable";
const SIGNING: &str = "plain-signing-secret";
const AUTHORIZATION: &str = "plain-authorization-header";
const VISIBLE: &str = "visible-description";

fn bucket(account: AccountId) -> Result<Bucket, Box<dyn std::error::Error>> {
    let mut spec = BucketSpec::default();
    spec.description = VISIBLE.to_owned();
    spec.auth.kind = AuthType::Basic;
    spec.auth.password = Secret::new(PASSWORD);
    spec.auth.token = Secret::new(TOKEN);
    let mut bucket = Bucket::new(BucketId::generate(), account, NOW, spec);
    let rules = serde_json::json!({ "match": {
        "type": "payload-hmac-sha256",
        "secret": SIGNING,
        "parameter": { "source": "header", "name": "X-Signature" },
    }});
    let mut spec = OutputSpec::default();
    spec.rules = serde_json::from_value(rules)?;
    spec.headers.0.insert("authorization", AUTHORIZATION.parse()?);
    bucket.outputs.push(Output::new(OutputId::generate(), bucket.id, NOW, spec));
    Ok(bucket)
}

/// Whether a file in `folder` holds `text`.
fn holds(folder: &Path, text: &str) -> std::io::Result<bool> {
    for file in std::fs::read_dir(folder)? {
        let bytes = std::fs::read(file?.path())?;
        if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[tokio::test]
async fn secrets_are_not_in_the_files() -> Tested {
    let folder = tempfile::tempdir()?;
    let options = sqlite(folder.path());
    let storage = open(&options).await;
    let account = Account { id: AccountId::generate(), name: "a".to_owned(), created_at: NOW };
    storage.create_account(&account).await?;
    let key = ApiKey {
        account_id: account.id,
        key: Secret::new(KEY),
        enabled: true,
        created_at: NOW,
        updated_at: NOW,
    };
    assert!(storage.put_api_key(&key, None).await?);
    let bucket = bucket(account.id)?;
    storage.create_bucket(&bucket).await?;
    let spec = FunctionSpec::default();
    let function = Function::new(FunctionId::generate(), account.id, NOW, spec);
    let documents: &dyn DocumentStore = &storage;
    documents.create(account.id, &function).await?;
    let variable = Variable {
        key: "KEY".to_owned(),
        value: Secret::new(VALUE),
        function_id: function.id,
        created_at: NOW,
        updated_at: NOW,
    };
    storage.put_variable(account.id, &variable, 1).await?;

    for closed in [false, true] {
        if closed {
            storage.close().await;
        }
        assert!(holds(folder.path(), VISIBLE)?, "what is no secret is found");
        for secret in [KEY, PASSWORD, TOKEN, VALUE, SIGNING, AUTHORIZATION] {
            assert!(!holds(folder.path(), secret)?, "{secret} is in a file");
        }
    }

    let storage = open(&options).await;
    assert_eq!(storage.api_key_by_text(KEY).await?, Some(key));
    assert_eq!(storage.bucket(account.id, bucket.id).await?, Some(bucket));
    assert_eq!(storage.variables(account.id, function.id).await?, [variable]);
    storage.close().await;
    Ok(())
}
