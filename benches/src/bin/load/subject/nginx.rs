//! nginx, which forwards and keeps nothing.

use std::process::{Command, Stdio};

use super::{Running, Started, Target, free_port, is_there, until_listening};
use crate::{Outcome, options::Context, process::Process, work::sink::Sink};

/// Where Debian has it, which is not on everybody's PATH.
const DEBIAN: &str = "/usr/sbin/nginx";

pub(super) fn start(context: &Context, sink: &Sink) -> Outcome<Started> {
    let program = match is_there("nginx") {
        true => "nginx",
        false if std::path::Path::new(DEBIAN).is_file() => DEBIAN,
        false => return Ok(Started::Skipped("nginx is not installed".to_owned())),
    };
    let folder = context.scratch()?;
    let address = free_port()?;
    let conf = folder.path().join("nginx.conf");
    std::fs::write(&conf, configuration(&folder.path().display().to_string(), address, sink))?;
    let log = folder.path().join("error.log");
    let mut command = Command::new(program);
    command.arg("-c").arg(&conf).arg("-e").arg(&log).stdout(Stdio::null());
    let mut process = Process::spawn_parent(&mut command)?;
    if let Err(error) = until_listening(address, &mut process) {
        let log = std::fs::read_to_string(log).unwrap_or_default();
        return Err(format!("nginx: {error}\n{log}").into());
    }
    Ok(Started::Target(Box::new(Target {
        running: Running::Program(process),
        address,
        paths: vec!["/0".to_owned()],
        api: None,
        searchers: None,
        schema: None,
        _folder: folder,
    })))
}

/// Keeps connections on both sides, and bodies in memory.
fn configuration(folder: &str, address: std::net::SocketAddr, sink: &Sink) -> String {
    let sink = sink.address;
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("    {kind}_temp_path {folder}/{kind};\n"))
        .concat();
    format!(
        "daemon off;
pid {folder}/nginx.pid;
worker_processes auto;
events {{ worker_connections 4096; }}
http {{
    access_log off;
{temporary}
    keepalive_requests 1000000000;
    client_body_buffer_size 1m;
    client_max_body_size 64m;
    upstream sink {{
        server {sink};
        keepalive 1024;
        keepalive_requests 1000000000;
    }}
    server {{
        listen {address} backlog=4096;
        location / {{
            proxy_pass http://sink;
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
        }}
    }}
}}
"
    )
}
