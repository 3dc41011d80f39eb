//! Frames of HTTP/2 (RFC 9113, section 4.1), for what no client sends.

use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout};

use super::PATIENCE;

/// The next frame: the nine bytes of its head, and its payload.
pub(crate) async fn next_frame(stream: &mut TcpStream) -> ([u8; 9], Vec<u8>) {
    let mut head = [0; 9];
    let read = timeout(PATIENCE, stream.read_exact(&mut head)).await;
    read.expect("in time").expect("a frame");
    let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
    stream.read_exact(&mut payload).await.expect("its payload");
    (head, payload)
}
