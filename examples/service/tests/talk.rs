//! Talks to the service: orders go in, totals come out.

use std::time::Duration;

use millstream::{JobEnd, RunOptions};
use service::revenue::{Params, Running, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Status and body.
async fn ask(address: &str, method: &str, path: &str, body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().to_owned(), body.to_owned())
}

#[tokio::test]
async fn orders_go_in_and_totals_come_out() {
    let Running { job, orders, totals } = start(Params::default(), RunOptions::new()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(async move {
        let routes = service::routes(orders, totals);
        axum::serve(listener, routes).with_graceful_shutdown(async { drop(stopped.await) }).await
    });

    for order in
        [r#"{"customer":"ann","amount":"3.25"}"#, r#"{"customer":"bob","amount":"1"}"#, r#"{"customer":"ann","amount":"0.5"}"#]
    {
        assert_eq!(ask(&address, "POST", "/orders", order).await.0, "202");
    }
    assert_eq!(ask(&address, "POST", "/orders", r#"{"customer":"ann","amount":"much"}"#).await.0, "422");
    let expected = r#"{"ann":{"orders":2,"total":"3.75"},"bob":{"orders":1,"total":"1.00"}}"#;
    let mut found = String::new();
    for _ in 0..600 {
        found = ask(&address, "GET", "/totals", "").await.1;
        if found == expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(found, expected);

    // Without the routes nobody can send: the job has read everything.
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
    assert_eq!(tokio::task::spawn_blocking(|| job.wait()).await.unwrap().unwrap(), JobEnd::Finished);
}
