//! PUC Lua 5.4 as a careful embedder would run functions on it: a thread, a VM
//! for each function that is kept, a fresh environment for each call, a hook that
//! looks at the clock, and a bound of memory. What it lacks, beside most of the
//! library: other calls while one waits, a stop inside of a pattern match, and
//! copies of the library tables, which one call can change for the next.

use std::{
    cell::RefCell,
    collections::HashMap,
    rc::Rc,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;
use mlua::{
    Error, Function, HookTriggers, Lua, LuaOptions, MetaMethod, StdLib, Table, UserData,
    UserDataFields, UserDataMethods, Value, VmState,
};
use serde_json::{Map, Number, Value as Tree};
use tokio::sync::oneshot;
use webhook_core::{
    FunctionId,
    function::{Completion, FunctionError, FunctionRuntime, Invocation, ScriptOutcome},
    model::{Driver, Request},
};

type Call = (Invocation, oneshot::Sender<Completion>);

/// Runs functions on PUC Lua.
#[derive(Debug)]
pub(crate) struct PucRuntime(mpsc::Sender<Call>);

impl PucRuntime {
    pub(crate) fn start() -> Self {
        let (calls, inbox) = mpsc::channel::<Call>();
        thread::spawn(move || {
            let mut vms = HashMap::new();
            while let Ok((invocation, reply)) = inbox.recv() {
                let started = Instant::now();
                let left = run(&mut vms, invocation);
                let result = left.map_err(|error| FunctionError::Script(error.to_string()));
                let duration = started.elapsed();
                let _ = reply.send(Completion { result, logs: Vec::new(), duration });
            }
        });
        Self(calls)
    }
}

#[async_trait]
impl FunctionRuntime for PucRuntime {
    async fn check(&self, _driver: Driver, _source: &str) -> Result<(), FunctionError> {
        Ok(())
    }

    async fn run(&self, invocation: Invocation) -> Completion {
        let (reply, completion) = oneshot::channel();
        self.0.send((invocation, reply)).expect("the thread lives");
        completion.await.expect("the thread answers")
    }
}

struct Vm {
    lua: Lua,
    script: Function,
    /// The metatable of environments.
    around: Table,
    deadline: Rc<RefCell<Instant>>,
}

/// What `r.RequestHeader` is: names in any case.
struct Headers(HeaderMap);

impl UserData for Headers {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, name: mlua::String| {
            let value = this.0.get(&*name.to_str()?);
            value.map(|value| lua.create_string(value.as_bytes())).transpose()
        });
    }
}

/// What `r` is.
struct Subject {
    request: Request,
    stop_forwarding: bool,
}

fn run(vms: &mut HashMap<FunctionId, Vm>, invocation: Invocation) -> mlua::Result<ScriptOutcome> {
    let Invocation { function_id, source, request, .. } = invocation;
    if !vms.contains_key(&function_id) {
        // As many are kept as of ours.
        if vms.len() >= 1_000 {
            vms.clear();
        }
        vms.insert(function_id, vm(&source)?);
    }
    let Vm { lua, script, around, deadline } = &vms[&function_id];
    *deadline.borrow_mut() = Instant::now() + Duration::from_secs(1);
    let environment = lua.create_table()?;
    environment.set_metatable(Some(around.clone()))?;
    let r = lua.create_userdata(Subject { request, stop_forwarding: false })?;
    environment.raw_set("r", &r)?;
    script.set_environment(environment)?;
    script.call::<()>(())?;
    let Subject { request, stop_forwarding } = r.take()?;
    Ok(ScriptOutcome { request, response: None, response_modified: false, stop_forwarding })
}

fn vm(source: &str) -> mlua::Result<Vm> {
    let library = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::COROUTINE | StdLib::UTF8;
    let lua = Lua::new_with(library, LuaOptions::default())?;
    lua.set_memory_limit(32 << 20)?;
    let deadline = Rc::new(RefCell::new(Instant::now()));
    let ends = Rc::clone(&deadline);
    lua.set_hook(HookTriggers::new().every_nth_instruction(2_048), move |_, _| {
        if Instant::now() > *ends.borrow() {
            return Err(Error::runtime("deadline"));
        }
        Ok(VmState::Continue)
    })?;
    let json = json(&lua)?;
    let require = lua.create_function(move |_, name: String| match name.as_str() {
        "json" => Ok(json.clone()),
        _ => Err(Error::runtime("no such module")),
    })?;
    lua.globals().set("require", require)?;
    let around = lua.create_table()?;
    around.set("__index", lua.globals())?;
    let script = lua.load(source).set_name("=function").into_function()?;
    Ok(Vm { lua, script, around, deadline })
}

impl UserData for Subject {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("RequestMethod", |lua, this| {
            lua.create_string(this.request.method.as_str())
        });
        fields
            .add_field_method_get("RequestBody", |lua, this| lua.create_string(&this.request.body));
        fields.add_field_method_get("RequestHeader", |lua, this| {
            lua.create_userdata(Headers(this.request.headers.clone()))
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("StopForwarding", |_, this, ()| {
            this.stop_forwarding = true;
            Ok(())
        });
        methods.add_method_mut("SetRequestBody", |_, this, body: mlua::String| {
            this.request.body = Bytes::copy_from_slice(&body.as_bytes());
            Ok(())
        });
    }
}

fn json(lua: &Lua) -> mlua::Result<Table> {
    let module = lua.create_table()?;
    let decode = lua.create_function(|lua, text: mlua::String| {
        let tree: Tree = serde_json::from_slice(&text.as_bytes()).map_err(Error::external)?;
        to_lua(lua, &tree)
    })?;
    let encode = lua.create_function(|lua, value: Value| {
        let text = serde_json::to_vec(&from_lua(&value)?).map_err(Error::external)?;
        lua.create_string(text)
    })?;
    module.set("decode", decode)?;
    module.set("encode", encode)?;
    Ok(module)
}

fn to_lua(lua: &Lua, tree: &Tree) -> mlua::Result<Value> {
    Ok(match tree {
        Tree::Null => Value::NULL,
        Tree::Bool(value) => Value::Boolean(*value),
        Tree::Number(number) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => Value::Number(number.as_f64().unwrap_or_default()),
        },
        Tree::String(text) => Value::String(lua.create_string(text)?),
        Tree::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (index, item) in items.iter().enumerate() {
                table.raw_set(index + 1, to_lua(lua, item)?)?;
            }
            Value::Table(table)
        }
        Tree::Object(fields) => {
            let table = lua.create_table_with_capacity(0, fields.len())?;
            for (name, value) in fields {
                table.raw_set(name.as_str(), to_lua(lua, value)?)?;
            }
            Value::Table(table)
        }
    })
}

fn from_lua(value: &Value) -> mlua::Result<Tree> {
    Ok(match value {
        Value::Boolean(value) => Tree::Bool(*value),
        Value::Integer(integer) => Tree::from(*integer),
        Value::Number(float) => Number::from_f64(*float).map_or(Tree::Null, Tree::Number),
        Value::String(text) => Tree::String(text.to_string_lossy()),
        Value::Table(table) if table.raw_len() > 0 => {
            let items = table.sequence_values::<Value>().map(|item| from_lua(&item?));
            Tree::Array(items.collect::<mlua::Result<_>>()?)
        }
        Value::Table(table) => {
            let mut fields = Map::new();
            for pair in table.pairs::<String, Value>() {
                let (name, value) = pair?;
                fields.insert(name, from_lua(&value)?);
            }
            Tree::Object(fields)
        }
        _ => Tree::Null,
    })
}
