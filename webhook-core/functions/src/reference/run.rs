//! Running the examples, and asking the runtimes what they define.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use webhook_core::{
    AccountId, DeliveryId, FunctionId, Timestamp,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder},
    function::{FunctionRuntime, Invocation, ScriptResponse},
    model::{Checks, Driver, Function, FunctionSpec, Request},
    store::{DocumentStore, memory::MemoryStore},
};

use super::table::Language;
use crate::{js::JsRuntime, lua::LuaRuntime};

/// What examples find loaded.
const MODULES: &str = "base64 crypto csv gzip hex http json jwt kv time url xml yaml";

/// Answers every request of an example.
#[derive(Debug)]
struct Pong;

#[async_trait]
impl Forwarder for Pong {
    async fn forward(&self, request: ForwardRequest) -> Result<ForwardResponse, ForwardError> {
        let mut response = ForwardResponse::empty(StatusCode::OK);
        let answer = format!("{} {}", request.method, request.url.path());
        response.body = Bytes::from(answer);
        Ok(response)
    }
}

pub(super) struct Runtimes {
    lua: LuaRuntime,
    js: JsRuntime,
    store: Arc<MemoryStore>,
}

impl Runtimes {
    pub(super) fn start() -> Self {
        let (lua, js) = (LuaRuntime::builder(), JsRuntime::builder());
        let store = Arc::new(MemoryStore::default());
        let lua = lua.threads(1).forwarder(Arc::new(Pong)).store(store.clone());
        let js = js.forwarder(Arc::new(Pong)).store(store.clone());
        let (lua, js) = (lua.build().expect("threads"), js.build().expect("threads"));
        Self { lua, js, store }
    }

    /// What an example prints, an expression or statements that print; values beside one another
    /// are two spaces apart.
    pub(super) async fn print(&self, language: Language, example: &str) -> String {
        let source = match language {
            Language::Lua => {
                let used =
                    MODULES.split(' ').filter(|module| example.contains(&format!("{module}.")));
                let loaded: String =
                    used.map(|module| format!("local {module} = require('{module}') ")).collect();
                if example.contains("print(") {
                    loaded + example
                } else {
                    format!("{loaded}print({example})")
                }
            }
            Language::Js if example.contains("console.") => example.to_owned(),
            Language::Js => format!("console.log({example})"),
        };
        self.run(language, &source).await
    }

    async fn run(&self, language: Language, source: &str) -> String {
        let (runtime, driver): (&dyn FunctionRuntime, _) = match language {
            Language::Lua => (&self.lua, Driver::Lua),
            Language::Js => (&self.js, Driver::Js),
        };
        let invocation = invocation(driver, source);
        let (id, account) = (invocation.function_id, invocation.account_id);
        let spec = FunctionSpec::new("f", driver, source);
        let function = Function::new(id, account, Timestamp::default(), spec);
        let documents: &dyn DocumentStore = &*self.store;
        documents.create(account, &function).await.expect("a function of its own");
        let completion = runtime.run(invocation).await;
        let printed = completion.logs.join("\n").trim_end().replace('\t', "  ");
        match completion.result {
            Ok(_) => printed,
            Err(error) => format!("{printed}{error}"),
        }
    }
}

fn invocation(driver: Driver, source: &str) -> Invocation {
    let headers = |pairs: &[(&'static str, &'static str)]| -> HeaderMap {
        let pairs = pairs.iter();
        pairs.map(|(n, v)| (n.parse().expect("a name"), v.parse().expect("a value"))).collect()
    };
    let metadata = ["bucket", "input", "output"].into_iter().flat_map(|kind| {
        let id = (format!("{kind}_id"), format!("id of the {kind}"));
        [id, (format!("{kind}_name"), format!("{kind} 1"))]
    });
    let address = ("output_url".to_owned(), "https://example.com/hook".to_owned());
    Invocation {
        account_id: AccountId::generate(),
        function_id: FunctionId::generate(),
        revision: 1,
        driver,
        source: Arc::from(source),
        config: Arc::new(BTreeMap::from([("TOKEN".to_owned(), "secret".to_owned())])),
        metadata: metadata.chain([address]).collect(),
        checks: Checks {
            verified: Some(true),
            event: Some("push".to_owned()),
            duplicate_of: Some(DeliveryId::from_uuid(uuid::Uuid::from_u128(7))),
            duplicates: 0,
            hops: 0,
        },
        request: Request {
            method: Method::POST,
            extra_path: "/a/b".to_owned(),
            raw_query: "k=v&k=w".to_owned(),
            headers: headers(&[
                ("content-type", "application/x-www-form-urlencoded"),
                ("x-github-event", "push"),
            ]),
            body: Bytes::from_static(b"name=Ada&name=Eve"),
        },
        response: Some(ScriptResponse {
            status: 201,
            headers: headers(&[("x-answer", "yes")]),
            body: Bytes::from_static(b"created"),
        }),
        trial: None,
    }
}

pub(super) async fn defined_in_lua(runtimes: &Runtimes) -> BTreeSet<String> {
    let walk = "for name, value in pairs(_G) do
        if type(value) == 'table' and value ~= _G then
          for field in pairs(value) do print(name .. '.' .. field) end
        elseif name ~= 'r' and name ~= 'cfg' then
          print(name)
        end
      end";
    let globals = runtimes.run(Language::Lua, walk).await;
    let globals: Vec<_> = globals.lines().map(str::to_owned).collect();
    assert!(globals.len() > 100, "{globals:?}");
    globals.into_iter().chain(crate::lua::names()).collect()
}

/// Names that only differ in `camelCase` from those of Lua are the same.
pub(super) async fn defined_in_js(runtimes: &Runtimes) -> BTreeSet<String> {
    let walk = "const objects = ['r', 'cfg', 'console', 'process', '$transform', 'base64', 'crypto', 'csv', 'hex', 'http', 'id', 'jmespath', 'jwt', 'kv', 'template', 'time', 'url', 'xml', 'yaml'];
      for (const name of Object.getOwnPropertyNames(globalThis)) {
        if (!objects.includes(name)) { console.log(name); continue; }
        for (const field of Object.getOwnPropertyNames(globalThis[name])) console.log(name + '.' + field);
      }";
    let names = runtimes.run(Language::Js, walk).await;
    let names: BTreeSet<_> = names.lines().map(str::to_owned).collect();
    assert!(names.len() > 100, "{names:?}");
    let snake = |name: &String| {
        let (module, field) = name.split_once('.')?;
        let field = field.chars().flat_map(|letter| {
            let dash = letter.is_ascii_uppercase().then_some('_');
            dash.into_iter().chain([letter.to_ascii_lowercase()])
        });
        let other = format!("{module}.{}", field.collect::<String>());
        (other != *name && names.contains(&other)).then_some(other)
    };
    names.iter().filter(|name| snake(name).is_none()).cloned().collect()
}
