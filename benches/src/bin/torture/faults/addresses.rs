//! Destinations that are private addresses, written in every way, by name and by
//! redirect, in a network namespace that has a loopback device and no way out. The
//! sink listens on all of them and notes who comes; webhooks for its one public
//! address arrive meanwhile as ever.

use std::{
    net::IpAddr,
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use benches::{
    Outcome,
    api::{input_path, text},
    event,
    orders::{order, say},
    process::Peer,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Fault, Name, restart};
use crate::{
    namespaces::{Mounts, ask},
    options::Context,
    rig::{Load, Rig},
    round::Round,
    run,
    sink::Mode,
};

/// Belongs to somebody, who is not to be reached from that network.
const PUBLIC: &str = "8.8.8.8";
const PRIVATE: [&str; 11] = [
    "10.0.0.5",
    "172.16.0.9",
    "192.168.7.7",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.0.1",
    "198.18.0.1",
    "fd00::5",
    "fec0::5",
    "64:ff9b::a00:5",
    "2002:a00:5::",
];
/// Other ways to write them and the loopback device.
const SPELLED: [&str; 15] = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "0.0.0.0",
    "10.5",
    "0x0a000005",
    "localhost",
    "[::1]",
    "[::]",
    "[::ffff:10.0.0.5]",
    "[::ffff:a00:5]",
    "internal.torture.example",
    "internal.torture.example.",
];
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n10.0.0.5 internal.torture.example\n";

#[derive(Debug)]
pub(super) struct Addresses;

impl Fault for Addresses {
    fn variables(&self) -> Vec<(String, String)> {
        vec![("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS".to_owned(), "false".to_owned())]
    }

    fn public(&self) -> Option<&'static str> {
        Some(PUBLIC)
    }

    fn load(&self) -> Load {
        // The attack takes less time. Without this bound only a kill ends the load.
        Load { lasts: Duration::from_secs(1), ..Load::default() }
    }

    fn strike(&mut self, rig: &mut Rig<'_>) -> Outcome<()> {
        let (api, port) = (rig.server()?.api, rig.sink_port());
        let (bucket, input) = api.bucket(&format!("attack-{}", rig.random.u64(..)))?;
        let literal = PRIVATE.iter().map(|address| match address.contains(':') {
            true => format!("[{address}]"),
            false => (*address).to_owned(),
        });
        let spelled = SPELLED.iter().map(|host| (*host).to_owned());
        let private = literal.chain(spelled).map(|host| format!("http://{host}:{port}/steady"));
        let redirecting = format!("http://{PUBLIC}:{port}{}", Mode::Redirecting.path());
        let path = format!("/v1/buckets/{}/outputs", text(&bucket["id"])?);
        let mut made = 0;
        for (number, destination) in private.chain([redirecting]).enumerate() {
            let name = format!("attack-{number}");
            // Tried once, so that the attack has an end.
            let spec = json!({ "name": name, "destination": destination, "retries": -1 });
            match api.call("POST", &path, Some(&spec))? {
                (201, _) => made += 1,
                (400, _) => {}
                (status, body) => return Err(format!("{destination}: {status} {body}").into()),
            }
        }
        if made == 0 {
            return Err("no attack was made".into());
        }
        let event: Value = serde_json::from_slice(&event::body(0))?;
        for _ in 0..3 {
            api.call("POST", &input_path(&input), Some(&event))?;
        }
        rig.wait(10, 300);
        match rig.random.bool() {
            true => restart(rig, |rig| rig.kill()),
            false => rig.recover(),
        }
    }
}

/// Rounds to be made inside.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    seed: u64,
    set: Vec<(String, String)>,
    patience: Duration,
    numbers: Range<u32>,
}

/// Rounds inside: one line for each is printed, as for all parts.
pub(crate) fn obey(server: PathBuf) -> Outcome<()> {
    let mut lo = Command::new("ip");
    ask(lo.args(["link", "set", "lo", "up"]))?;
    for address in PRIVATE.iter().chain([&PUBLIC]) {
        let bits = if address.parse::<IpAddr>()?.is_ipv4() { 32 } else { 128 };
        let mut add = Command::new("ip");
        ask(add.args(["addr", "add", &format!("{address}/{bits}"), "dev", "lo"]))?;
    }
    let hosts = tempfile::NamedTempFile::new()?;
    std::fs::write(hosts.path(), HOSTS)?;
    let mut bind = Command::new("mount");
    ask(bind.arg("--bind").arg(hosts.path()).arg("/etc/hosts"))?;
    say(&"ready")?;
    while let Some(Order { seed, set, patience, numbers }) = order()? {
        let context = Context::new(server.clone(), seed, Mounts::Mapped, set, patience)?;
        run::on_one_folder(&context, Name::Addresses, numbers, &mut |round| say(&Some(round)))?;
        say(&None::<Round>)?;
    }
    Ok(())
}

/// Lets rounds happen inside a network of their own; why not, when there is none.
pub(crate) fn isolated(
    context: &Context,
    numbers: Range<u32>,
    tell: &mut dyn FnMut(Round) -> Outcome<()>,
) -> Outcome<Option<String>> {
    let (exe, server) = (context.exe.display().to_string(), context.server.display().to_string());
    let mut arguments = vec!["--net", "--mount", "--propagation", "private"];
    if context.mounts != Mounts::Own {
        arguments.push("--map-root-user");
    }
    arguments.extend(["--", &exe, "addresses", &server]);
    let peer = Peer::start(Path::new("unshare"), &arguments);
    let ready = peer.and_then(|mut peer| peer.hear::<String>().map(|_| peer));
    let mut peer = match ready {
        Ok(peer) => peer,
        Err(error) => return Ok(Some(format!("no network without a way out: {error}"))),
    };
    let Context { seed, set, patience, .. } = context;
    peer.tell(&Order { seed: *seed, set: set.clone(), patience: *patience, numbers })?;
    while let Some(round) = peer.hear::<Option<Round>>()? {
        tell(round)?;
    }
    Ok(None)
}
