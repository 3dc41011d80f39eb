//! A pooler between the server and PostgreSQL that gives prepared statements to others.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};

use crate::{
    harness::postgres::{Schema, skipped},
    pools::refused,
};

/// What the driver calls its first statement.
const PREPARE: &str = "PREPARE sqlx_s_1 AS SELECT 1";

/// A connection on which another client has prepared a statement, as those of a pooler are that
/// gives one to each transaction.
async fn pooled(mut client: TcpStream, port: u16) -> std::io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    // The driver asks for TLS first, and begins without it.
    for answer in [Some(b'N'), None] {
        let mut length = [0; 4];
        client.read_exact(&mut length).await?;
        let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
        client.read_exact(&mut rest).await?;
        match answer {
            Some(answer) => client.write_u8(answer).await?,
            None => server.write_all(&[&length[..], &rest].concat()).await?,
        }
    }
    let greeting = until_ready(&mut server).await?;
    let length = u32::try_from(PREPARE.len() + 5).expect("it is short").to_be_bytes();
    server.write_all(&[b"Q", &length[..], PREPARE.as_bytes(), b"\0"].concat()).await?;
    until_ready(&mut server).await?;
    client.write_all(&greeting).await?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

/// What PostgreSQL says until it is ready for a query.
async fn until_ready(server: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut said = Vec::new();
    loop {
        let begin = said.len();
        let (kind, length) = (server.read_u8().await?, server.read_u32().await?);
        said.push(kind);
        said.extend(length.to_be_bytes());
        said.resize(begin + 1 + length as usize, 0);
        server.read_exact(&mut said[begin + 5..]).await?;
        if kind == b'Z' {
            return Ok(said);
        }
    }
}

#[tokio::test]
async fn a_pooler_that_mixes_statements_up_is_refused_in_one_line() {
    let Some(schema) = Schema::create("pooler").await else { return skipped() };
    let (through, port) = schema.through_port();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = through(listener.local_addr().expect("an address").port());
    let pooler = tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(pooled(client, port));
        }
    });
    let said = refused(&url).await;
    let expected = "let PgBouncer have pool_mode = session, or be 1.21 or later with \
                    max_prepared_statements = 200";
    assert!(said.contains(expected) && said.contains("already exists"), "{said}");
    pooler.abort();
    schema.remove().await;
}
